"""Seconds of direct sums of the field, estimated from some of their points."""

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

from FuzzyVesselCoreLib.progress import Progress
from PotentialSkeletonLib.field.methods import direct_cuda, direct_serial

from ..setting import Setting

STRENGTH = 6
SERIAL = "direct-serial"
DIRECT = (SERIAL, "cuda-simple", "cuda-constant", "cuda-shared")
TRIAL_POINTS = 4096  # for the estimate on the CPU; on CUDA 64 times more


def seconds_of_serial(solid: Any) -> float:
    """Of the serial sum, from a trial with some of the points."""
    positions = solid.positions(solid.targets)
    task = (positions[:TRIAL_POINTS], solid.charges, STRENGTH, Progress())
    seconds = timed(partial(direct_serial.sum_at, *task))
    return seconds * len(positions) / min(len(positions), TRIAL_POINTS)


def seconds_on_gpu(setting: Setting, solid: Any, method: str) -> float:
    positions = solid.positions(solid.targets)
    task = (positions[: 64 * TRIAL_POINTS], solid.charges, STRENGTH, Progress())
    with setting.gpu as gpu:
        seconds = timed(partial(direct_cuda.sum_at, *task, gpu, method))
    return seconds * len(positions) / min(len(positions), 64 * TRIAL_POINTS)


def timed(run: Callable[[], Any]) -> float:
    begin = perf_counter()
    run()
    return perf_counter() - begin
