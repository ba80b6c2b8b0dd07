"""On what a benchmark ran, and how it is timed."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path


def description(*packages: str) -> dict[str, str]:
    """Processor, Python, versions of packages."""
    cpu = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.processor(),
    )
    versions = {name: importlib.metadata.version(name) for name in packages}
    return {"processor": cpu, "cores": str(os.cpu_count()), "python": platform.python_version(), **versions}


def seconds(action: Callable[[], object], repeats: int = 5) -> float:
    """Median processor time of an action."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        action()
        found.append(time.process_time() - start)
    return statistics.median(found)
