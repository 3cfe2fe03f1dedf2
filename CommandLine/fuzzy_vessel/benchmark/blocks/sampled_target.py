"""A target that keeps the levels of a few boxes, to be compared with the reference's."""

import numpy as np

from FuzzyConnectedGPULib.problem import Problem
from FuzzyConnectedGPULib.solvers.cpu import dial
from FuzzyVesselCoreLib.progress import Progress

from .hashed_target import HashedTarget
from .procedural_volume import AFFINITY, ProceduralVolume

SIDE = 80  # voxels of a box along each axis


class SampledTarget(HashedTarget):
    """`HashedTarget` that keeps `count` boxes: one with the seed in it, the others at random."""

    def __init__(self, shape: tuple[int, int, int], count: int) -> None:
        super().__init__(shape)
        self._side = np.minimum(SIDE, np.array(shape))
        free, random = np.array(shape) - self._side + 1, np.random.default_rng(3)
        middle = ProceduralVolume(shape).seeds[0] - self._side // 2
        places = [np.clip(middle, 0, free - 1), *random.integers(0, free, (count, 3))][:count]
        self._boxes = [(place, np.zeros(self._side, np.uint16)) for place in places]

    def __setitem__(self, index: tuple[slice, ...], levels: np.ndarray) -> None:
        super().__setitem__(index, levels)
        start = np.array([part.start for part in index])
        for place, kept in self._boxes:
            low = np.maximum(start, place)
            high = np.minimum(start + levels.shape, place + self._side)
            if (low < high).all():
                kept[_slices(low - place, high - place)] = levels[
                    _slices(low - start, high - start)
                ]

    def compared(self, volume: ProceduralVolume) -> str:
        """What is said of the boxes, each solved again from its levels on its border."""
        wrong = sum(_differing(volume, place, levels) for place, levels in self._boxes)
        if wrong:
            return f"{wrong:,} voxels of sampled boxes differ from dial"
        return f"{len(self._boxes)} sampled boxes equal to dial, bit for bit"


def _differing(volume: ProceduralVolume, place: np.ndarray, levels: np.ndarray) -> int:
    """How many levels are not those of the widest paths from the border and the seed.

    A widest path that leaves the box comes back through a voxel of its border, whose level is
    final.
    """
    known = np.ones(levels.shape, bool)
    known[1:-1, 1:-1, 1:-1] = False
    inside = ((volume.seeds >= place) & (volume.seeds < place + levels.shape)).all(axis=1)
    at_seeds = tuple((volume.seeds[inside] - place).T)
    known[at_seeds] = True
    begun = levels.copy()
    begun[at_seeds] = 65535
    seeds = np.flatnonzero(known & (begun > 0))
    voxels = volume[_slices(place, place + levels.shape)]
    problem = Problem(voxels, AFFINITY, seeds, None, 0, seed_levels=begun.reshape(-1)[seeds])
    return int(np.count_nonzero(dial.solve(problem, Progress()).levels != levels))


def _slices(low: np.ndarray, high: np.ndarray) -> tuple[slice, ...]:
    return tuple(map(slice, low.tolist(), high.tolist()))
