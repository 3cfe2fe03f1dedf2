"""The voxels that curves pass, and where they pass them.

In a symmetric object curves run along the faces between voxels and through their corners. Rounding
errors, which differ from one field method to another, must not decide there: the faces are offset
slightly, and a voxel in which only a short segment lies is left out. The voxels before and after
it are neighbours.
"""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, compiled_inside
from FuzzyVesselCoreLib.threads import in_parts

from ..field.tiles import Tiles
from .centring import FACE_OFFSET, centre_points, voxel_along, voxels_of

MIN_LENGTH = 0.05  # voxels: length of all curves in a voxel from which on they pass it
ON_FACE = 1e-9  # voxels from a face
MAX_SEGMENT = 4.0  # voxels: neighbouring points that were moved are no further apart
VOXELS_PER_POINT = 32  # that are worked on otherwise in the time of one point
WITHIN = 0.499  # voxels from its centre that the skeleton may pass in a voxel


class CurveVoxels:
    """Gathers curves.

    Parameters
    ----------
    depths : Tiles
        Distance to the outside, float32; 0 outside of the object.
    """

    def __init__(self, depths: Tiles) -> None:
        self.depths = depths
        self._voxels = np.empty(0, np.int64)  # flat, ascending
        self._sums = np.empty((0, 4))  # length, and length times position
        self._new: list[np.ndarray] = []  # curves that are not among these yet

    def add(self, curve: np.ndarray) -> None:
        """Add a curve (n, 3); what lies off the object's middle is moved there."""
        self._new.append(np.asarray(curve, float))

    def voxels(self) -> np.ndarray:
        """Flat indices, ascending, of the object's voxels that the curves pass."""
        self._gather()
        voxels = self._voxels[self._sums[:, 0] >= MIN_LENGTH]
        indices = np.stack(np.unravel_index(voxels, self.depths.shape), axis=1)
        return voxels[self.depths.at(indices) > 0]

    def positions(self, voxels: np.ndarray) -> np.ndarray:
        """Where curves pass each of the voxels (n, 3), else its centre; float (n, 3)."""
        self._gather()
        positions = voxels.astype(float)
        if not len(self._voxels) or not len(voxels):
            return positions
        flat = np.ravel_multi_index(voxels.T, self.depths.shape)
        at = np.minimum(np.searchsorted(self._voxels, flat), len(self._voxels) - 1)
        passed = (self._voxels[at] == flat) & (self._sums[at, 0] >= MIN_LENGTH)
        sums = self._sums[at[passed]]
        positions[passed] = sums[:, 1:] / sums[:, :1]
        # Not quite up to the faces between voxels, so that rounding always gives the voxel.
        return np.clip(positions, voxels - WITHIN, voxels + WITHIN)

    def _gather(self) -> None:
        if not self._new:
            return
        depths, curves = self.depths, np.concatenate(self._new)
        if not depths.is_complete:
            depths.require(voxels_of(curves), reach=1)
        ends = np.cumsum([0, *map(len, self._new)])
        tiles = depths.volumes[0], depths.numbers, depths.side, depths.shape

        def work(first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
            some = ends[first : last + 1]
            return segments_of_all(curves[some[0] : some[-1]], some - some[0], tiles)

        found = in_parts(work, len(self._new), VOXELS_PER_POINT * len(curves))
        voxels = np.concatenate([self._voxels, *(part[0] for part in found)])
        sums = np.concatenate([self._sums, *(part[1] for part in found)])
        self._voxels, group = np.unique(voxels, return_inverse=True)
        self._sums = np.stack(
            [np.bincount(group, column, len(self._voxels)) for column in sums.T], axis=1
        )
        self._new = []


@compiled
def segments_of_all(
    points: np.ndarray, ends: np.ndarray, tiles: tuple
) -> tuple[np.ndarray, np.ndarray]:
    """Curves, one behind the other, are centred and cut into `segments`; those of all curves."""
    count = ends.size - 1
    inside, firsts = np.empty(points.shape), np.empty(count + 1, np.int64)
    lengths = np.empty(count, np.int64)
    firsts[0] = 0
    voxels, sums = np.empty(0, np.int64), np.empty((0, 4))
    for n in range(count):
        curve = inside[ends[n] : ends[n + 1]]
        lengths[n] = centre_points(points[ends[n] : ends[n + 1]], tiles, curve)
        firsts[n + 1] = segments(curve[: lengths[n]], tiles[3], False, voxels, sums)
    for n in range(count):
        firsts[n + 1] += firsts[n]
    voxels, sums = np.empty(firsts[count], np.int64), np.empty((firsts[count], 4))
    for n in range(count):
        curve = inside[ends[n] : ends[n] + lengths[n]]
        segments(curve, tiles[3], True, voxels[firsts[n] :], sums[firsts[n] :])
    return voxels, sums


@compiled_inside
def segments(
    points: np.ndarray,
    shape: tuple[int, ...],
    are_kept: bool,
    voxels: np.ndarray,
    sums: np.ndarray,
) -> int:
    """Cut a curve at the faces between voxels; returns the number of segments.

    Where they are kept, `voxels` are set to the segments' voxels as flat indices, and `sums` to
    length and length times middle.
    """
    count = 0
    step = np.empty(3)
    for n in range(1, points.shape[0]):
        start = points[n - 1]
        for axis in range(3):
            step[axis] = points[n, axis] - start[axis]
        length = np.sqrt(step[0] * step[0] + step[1] * step[1] + step[2] * step[2])
        if length > MAX_SEGMENT:
            continue
        share = 0.0
        while share < 1 and length > 0:
            following = next_face(start, step, share)
            if are_kept:
                sums[count, 0] = (following - share) * length
                voxels[count] = 0
                for axis in range(3):
                    middle = start[axis] + 0.5 * (share + following) * step[axis]
                    voxels[count] = voxels[count] * shape[axis] + voxel_along(middle)
                    sums[count, 1 + axis] = sums[count, 0] * middle
            count += 1
            share = following
    return count


@compiled_inside
def next_face(start: np.ndarray, step: np.ndarray, share: float) -> float:
    """Share of a step, beyond `share`, at which it crosses the next face; at most 1."""
    following = 1.0
    for axis in range(3):
        if step[axis] == 0:
            continue
        cell = start[axis] + share * step[axis] + 0.5 - FACE_OFFSET
        face = np.floor(cell + ON_FACE) + 1 if step[axis] > 0 else np.ceil(cell - ON_FACE) - 1
        following = min(following, share + (face - cell) / step[axis])
    return following
