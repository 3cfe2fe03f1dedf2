"""Seconds of the first run in a process, with and without a cache of compiled kernels."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import numpy as np

from ..goals import Goal, row
from ..setting import Setting

FRESH_PROCESSES = 3
CACHES = ("CUPY_CACHE_DIR", "CUDA_CACHE_PATH", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR")
FIRST_RUN = """
from time import perf_counter
begin = perf_counter()
import numpy as np
from FuzzyConnectedGPULib import connectedness
volume = np.random.default_rng(0).normal(100, 20, (64, 64, 64)).astype(np.int16)
connectedness(volume, [[32, 32, 32]], device="cuda")
print(perf_counter() - begin)
"""


def rows(setting: Setting, work: str, goal: Goal) -> Iterator[dict]:
    """A process of its own, with an empty cache of kernels, and another one with that cache."""
    runs: dict[str, list[float]] = {work: [], f"{work}, kernels in the cache": []}
    for _ in range(FRESH_PROCESSES):
        with tempfile.TemporaryDirectory() as cache:
            for name, seconds in runs.items():
                setting.tell(name[:1].upper() + name[1:])
                seconds.append(float(output_of(FIRST_RUN, [], cache)))
    for name, seconds in runs.items():
        wanted = goal if name == work else None
        figure = float(np.median(seconds))
        yield row(name, setting.gpu.name, figure, wanted, unit="s", runs=seconds)


def output_of(code: str, arguments: list[str], cache: str) -> str:
    """What Python code prints in a process of its own, with all caches in a folder.

    Parameters
    ----------
    code : str
    arguments : list of str
        From ``sys.argv[1]`` on.
    cache : str
    """
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, **dict.fromkeys(CACHES, cache), "PYTHONPATH": paths}
    process = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return process.stdout
