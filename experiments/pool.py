"""The runner on several local processes: workers train, the caller alone reads and writes the store.

A worker holds one job at a time and tells of every event through its own pipe. One that dies, by whatever hand, is
replaced and its job counted as failed; when the caller dies or stops, its end of the pipes closes and the workers end.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

import safetensors.torch

from experiments.plan import Group
from experiments.sweep import Event, Job, Runner, Tensors, train_job

GRACE_SECONDS = 5.0  # how long a worker may take to end once its pipe is closed


@dataclass
class _Worker:
    """A process, our end of its pipe, and what it is at: the group and the seeds still open."""

    process: BaseProcess
    pipe: Connection
    group: Group | None
    open_seeds: set[int]


def in_processes(count: int) -> Runner:
    """A runner on ``count`` processes of this machine, one thread each."""

    def runner(jobs: Iterable[Job]) -> Iterator[Event]:
        waiting = iter(jobs)
        workers: list[_Worker] = []
        try:
            for job in waiting:
                workers.append(_hire(job))
                if len(workers) == count:
                    break
            while workers:
                for pipe in wait([worker.pipe for worker in workers]):
                    worker = next(worker for worker in workers if worker.pipe is pipe)
                    yield from _hear(worker)
                    if worker.group is None:
                        _go_on(worker, workers, next(waiting, None))
        finally:
            for worker in workers:
                _dismiss(worker)

    return runner


def _hire(job: Job) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    worker = _Worker(process, ours, None, set())
    _send(worker, job)
    return worker


def _send(worker: _Worker, job: Job) -> None:
    worker.group, worker.open_seeds = job.group, set(job.checkpoints)
    worker.pipe.send((job.group, {seed: _packed(tensors) for seed, tensors in job.checkpoints.items()}))


def _hear(worker: _Worker) -> Iterator[Event]:
    """The worker's next event; if it is dead, the failure of every cell it had not finished."""
    group = worker.group
    assert group is not None
    try:
        message = worker.pipe.recv()
    except (EOFError, OSError):
        for seed in sorted(worker.open_seeds):
            yield Event(group, seed, 0, None, failure="the worker process died. Try: the same command again.")
        worker.group = None
        return
    if message is None:
        worker.group = None
        return
    seed, epoch, packed, result, failure = message
    if result is not None or failure is not None:
        worker.open_seeds.discard(seed)
    yield Event(group, seed, epoch, _unpacked(packed), result, failure)


def _go_on(worker: _Worker, workers: list[_Worker], job: Job | None) -> None:
    """Give an idle worker its next job; a dead one is replaced, one without work dismissed."""
    if job is not None and worker.process.is_alive():
        with suppress(BrokenPipeError):
            _send(worker, job)
            return
    workers.remove(worker)
    _dismiss(worker)
    if job is not None:
        workers.append(_hire(job))


def _dismiss(worker: _Worker) -> None:
    worker.pipe.close()
    if worker.group is not None:
        worker.process.terminate()
    worker.process.join(GRACE_SECONDS)


def _work(pipe: Connection) -> None:
    """The worker's life: jobs in, events out, until the pipe closes."""
    with suppress(EOFError, BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        while True:
            group, packed = pipe.recv()
            for event in train_job(Job(group, {seed: _unpacked(blob) for seed, blob in packed.items()})):
                pipe.send((event.seed, event.epoch, _packed(event.checkpoint), event.result, event.failure))
            pipe.send(None)


def _packed(tensors: Tensors | None) -> bytes | None:
    return None if tensors is None else safetensors.torch.save(dict(tensors))


def _unpacked(blob: Any) -> Tensors | None:
    return None if blob is None else safetensors.torch.load(blob)
