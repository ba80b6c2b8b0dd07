"""The native engine: `native_step.cpp`, compiled on first use with the system's C++ compiler and kept.

The library lies in ``$XDG_CACHE_HOME/headcount`` (else ``~/.cache/headcount``) under a key made of the source, the
flags, the compiler's version and the processor's features, so that nothing stale or foreign is ever loaded. Models
are trained one after another on one core: their bits depend on nothing but themselves and the processor's features.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from experiments.ensemble import Engine, Recipe, State, TorchEngine
from experiments.models import BlockConfig
from theory.errors import HeadcountError

SOURCE, HEADER = (Path(__file__).with_name(name) for name in ("native_step.cpp", "native_vectors.h"))
REALS = {torch.float32: "float", torch.float64: "double"}
ACTIVATION_CODES = {"relu": 0, "gelu": 1, "tanh": 2}
COMPILERS = ("g++", "clang++", "c++")
FLAGS = ("-std=c++20", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast")
COMPILE_SECONDS = 120.0
EVALUATION_BATCH = 64
WORD, REAL = ctypes.c_int64, ctypes.c_double


class NativeUnavailable(HeadcountError):
    """This machine cannot build or load the native step; torch trains the same models, more slowly."""


def engine_for(device: str = "cpu", notice: Callable[[str], None] = print) -> Engine:
    """The fastest engine for a device; where the native step cannot be had, one line says so and torch takes over."""
    if torch.device(device).type != "cpu":
        return TorchEngine()
    try:
        return NativeEngine()
    except NativeUnavailable as reason:
        notice(f"training with torch: {reason}")
        return TorchEngine()


class NativeEngine:
    """`experiments.ensemble.Engine` for one core of a CPU, float32 and float64; any d, N, h, n, l and activation.

    Raises NativeUnavailable where there is no compiler, or it fails.
    """

    name = "native"

    def __init__(self) -> None:
        self._libraries = {torch.float32: load_library(torch.float32)}

    def epoch(
        self, config: BlockConfig, state: State, x: Tensor, y: Tensor, order: Tensor, recipe: Recipe, epoch: int
    ) -> None:
        """See `Engine`."""
        library, sizes = self._library(x.dtype), _sizes(config)
        x, y, order = _checked(x, x.dtype), _checked(y, x.dtype), _checked(order, torch.int64)
        batches, batch = order.shape[1:]
        rates = torch.tensor(list(recipe.adam_steps(epoch, batches)), dtype=torch.float64)
        for row in range(len(order)):
            flat, first, second = (
                _checked(part[row], x.dtype) for part in (state.parameters, state.first_moment, state.second_moment)
            )
            gradient = torch.zeros_like(flat)
            code = library.headcount_epoch(
                sizes,
                *(_address(tensor) for tensor in (flat, first, second, gradient)),
                WORD(flat.numel()),
                *(_address(tensor) for tensor in (x, y, order[row])),
                WORD(batches),
                WORD(batch),
                _address(rates),
                REAL(recipe.beta1),
                REAL(recipe.beta2),
            )
            _raise_if(code)

    def outputs(self, config: BlockConfig, flat: Tensor, x: Tensor) -> Tensor:
        """See `Engine`."""
        library, x = self._library(x.dtype), _checked(x, x.dtype)
        said = torch.empty((len(flat), len(x), config.outputs), dtype=x.dtype)
        for row, to in zip(_checked(flat, x.dtype), said, strict=True):
            batch = WORD(min(EVALUATION_BATCH, len(x)))
            where = (_address(row), _address(x), WORD(len(x)), batch, _address(to))
            _raise_if(library.headcount_outputs(_sizes(config), *where))
        return said

    def gradient(self, config: BlockConfig, flat: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """Gradient of one model's mean squared error on all of x, y: like ``flat`` (P,)."""
        x, y, flat = (_checked(value, x.dtype) for value in (x, y, flat))
        result = torch.zeros_like(flat)
        where = (_address(flat), _address(x), _address(y), WORD(len(x)), _address(result))
        _raise_if(self._library(x.dtype).headcount_gradient(_sizes(config), *where))
        return result

    def _library(self, dtype: torch.dtype) -> ctypes.CDLL:
        if dtype not in self._libraries:
            self._libraries[dtype] = load_library(dtype)
        return self._libraries[dtype]


def load_library(dtype: torch.dtype) -> ctypes.CDLL:
    """The compiled step for float32 or float64, built if no build of this very source is kept."""
    if dtype not in REALS:
        raise NativeUnavailable(f"the native step computes in float32 and float64, not {dtype}")
    compiler = _compiler()
    flags = [*FLAGS, f"-DREAL={REALS[dtype]}"]
    version = _run([compiler, "--version"])
    sources = (SOURCE.read_text(), HEADER.read_text())
    text = "\0".join([*sources, *flags, compiler, version, platform.machine(), _processor_features()])
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headcount"
    path = folder / f"native-{hashlib.sha256(text.encode()).hexdigest()[:32]}.so"
    try:
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder) as fresh:
                built = Path(fresh) / "native.so"
                _run([compiler, *flags, "-shared", "-fPIC", "-o", str(built), str(SOURCE)])
                os.replace(built, path)  # atomic: another process sees all of it or nothing
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise NativeUnavailable(f"the native step cannot be kept or loaded ({error})") from error


def _compiler() -> str:
    for name in (os.environ.get("CXX"), *COMPILERS):
        if name and (found := shutil.which(name)):
            return found
    raise NativeUnavailable(f"no C++ compiler ({', '.join(COMPILERS)}) to build the native step with")


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NativeUnavailable(f"{command[0]} does not run ({error})") from error
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["no message"])[0]
        raise NativeUnavailable(f"{command[0]} cannot build the native step ({said})")
    return done.stdout


def _processor_features() -> str:
    """What ``-march=native`` may depend on: a home shared by unlike machines holds one library for each."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())


def _sizes(config: BlockConfig) -> ctypes.Array[ctypes.c_int64]:
    return (WORD * 7)(
        config.token_dim,
        config.seq_len,
        config.num_heads,
        config.head_dim,
        config.hidden,
        config.outputs,
        ACTIVATION_CODES[config.token_activation],
    )


def _checked(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """The tensor itself, if its memory is what the library takes it for; only then may its address be passed."""
    if tensor.device.type != "cpu" or tensor.dtype != dtype or not tensor.is_contiguous():
        raise NativeUnavailable(f"the native step takes contiguous CPU tensors of one dtype, not {tensor.device} ones")
    return tensor


def _address(tensor: Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(tensor.data_ptr())


def _raise_if(code: int) -> None:
    if code:
        raise NativeUnavailable("the native step finds too little memory")
