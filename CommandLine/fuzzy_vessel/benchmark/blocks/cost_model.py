"""Seconds and traffic of a run over blocks: what its steps work on, times rates fitted to runs.

A phase of independent tasks takes the work of all of them divided by the workers, or that of its
largest task if this is more. Each unit of `run_steps` has a rate for every phase, on cards and on
the CPU. Where runs on several workers of one process were fitted, a part of the blocks' time does
not shrink with the workers, but with the processes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import nnls

from FuzzyConnectedGPULib.distributed.block_connectedness import TASKS_PER_CARD
from FuzzyConnectedGPULib.distributed.partition import Partition

from .run_steps import OF_PROCESS, Rate, Steps, Work

BLOCKS_ALONG_AN_AXIS = (4, 6, 8, 10, 12, 16, 18, 20, 24, 32)


@dataclass(frozen=True)
class Run:
    """A run whose phases were timed.

    Attributes
    ----------
    partition : Partition
    workers : int
    place : {"card", "CPU"}
        What each worker computes on.
    seconds : dict of str to float
        Of the phases.
    written : float
        Bytes in the folder of intermediate results in the end.
    """

    partition: Partition
    workers: int
    place: str
    seconds: dict[str, float]
    written: float


@dataclass(frozen=True)
class Costs:
    """What was fitted to runs.

    Attributes
    ----------
    rates : dict
        Seconds of a worker for a unit of work, by phase, unit and place.
    face_bytes : float
        Bytes in the folder of a run for each face voxel of a group.
    """

    rates: dict[Rate, float]
    face_bytes: float

    def seconds(self, work: Work) -> dict[str, float]:
        """Of each phase; `KeyError` if no run had such work."""
        return {phase: sum(self._parts(of).values()) for phase, of in work.items()}

    def _parts(self, amounts: dict[Rate, float]) -> dict[Rate, float]:
        return {rate: self.rates[rate] * amount for rate, amount in amounts.items()}

    def bound(self, work: Work) -> tuple[Rate, float]:
        """The work that takes most of the time, and its seconds."""
        parts = {rate: part for of in work.values() for rate, part in self._parts(of).items()}
        return max(parts.items(), key=lambda part: part[1])


def fit(runs: Iterable[Run]) -> Costs:
    """The rates, none negative, with the least squares of the phases' relative errors.

    Parameters
    ----------
    runs : iterable of Run

    Returns
    -------
    Costs

    Examples
    --------
    >>> seconds = {"contract": 8.0, "finish": 16.0, "solve": 1.0}
    >>> run = Run(Partition((64, 64, 64), (32, 32, 32)), 1, "CPU", seconds, 1e6)
    >>> costs = fit([run])
    >>> found = costs.seconds(Steps(run.partition).work(2, "CPU"))
    >>> [round(found[phase], 3) for phase in ("contract", "solve", "finish")]
    [4.0, 1.0, 8.0]
    """
    equations: list[tuple[dict[Rate, float], float]] = []
    written, kept, known = 0.0, 0, list(runs)
    shared = {run.place for run in known if run.workers > 1}
    for run in known:
        steps = Steps(run.partition)
        work = steps.work(run.workers, run.place)
        equations += [
            (work[phase], seconds) for phase, seconds in run.seconds.items() if work[phase]
        ]
        written, kept = written + run.written, kept + steps.kept_faces()
    every = {rate for amounts, _ in equations for rate in amounts}
    rates = sorted(rate for rate in every if rate[1] != OF_PROCESS or rate[2] in shared)
    shares = np.array(
        [[of.get(rate, 0.0) / seconds for rate in rates] for of, seconds in equations]
    )
    scale = shares.max(axis=0)
    found = nnls(shares / scale, np.ones(len(equations)))[0] / scale
    return Costs(
        dict.fromkeys(every, 0.0) | dict(zip(rates, found.tolist())), written / max(kept, 1)
    )


def best_partition(
    costs: Costs,
    shape: tuple[int, int, int],
    cluster: tuple[int, str, int],
    limits: tuple[float, float],
) -> Steps | None:
    """The partition into about cubes that takes the least time, of those that respect limits.

    Parameters
    ----------
    costs : Costs
    shape : tuple of int
    cluster : tuple
        Workers, "card" or "CPU", and processes.
    limits : tuple of float
        Bytes of a worker, and voxels of a block.
    """
    found, (workers, place, _) = [], cluster
    for count in BLOCKS_ALONG_AN_AXIS:
        steps = _steps_of(shape, count)
        if steps.memory(workers, tasks_of(place)) <= limits[0] and max(steps.voxels) <= limits[1]:
            found.append((sum(costs.seconds(steps.work(*cluster)).values()), steps))
    return min(found, key=lambda one: one[0])[1] if found else None


@lru_cache(maxsize=len(BLOCKS_ALONG_AN_AXIS))
def _steps_of(shape: tuple[int, int, int], count: int) -> Steps:
    """Those of so many blocks along each axis: the same for every cluster, and slow to count."""
    k, j, i = (-(-n // count) for n in shape)
    return Steps(Partition(shape, (k, j, i)))


def tasks_of(place: str) -> int:
    """How many tasks a worker has at a time."""
    return TASKS_PER_CARD if place == "card" else 1
