"""Curves that follow the force (Zhao et al. 2016, section 1, step 4).

A curve is an integral curve of the force as it is between the voxels, trilinear: its zeros are the
critical points, so from a saddle it leads to another critical point. It ends there, at a curve
that was traced before, or where the object ends.

On a tube of constant width the force along the tube is some 1/200 of the force across it: steps
that follow the force alone would have to be as short. A step is therefore exponential Euler
(`integrator`): across the tube it settles on the valley at once, and its length is spent along it.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.threads import in_parts

from ..critical_points.critical_points import CriticalPoint
from ..field.tiles import Tiles
from .meeting import end_each
from .outgoing_directions import outgoing_directions
from .spatial_point_index import NO_POINT, empty_index, insert_points
from .stepping import MISSING_TILE, ON_NO_CURVE, Curves, follow_each
from .tiled_field import TiledField

START = 0.3  # voxels from a saddle to the first point of its curves
CURVES_PER_SLICE = 256  # traced between two calls of the progress callback
CURVES_PER_PART = 16  # followed by one thread
VOXELS_PER_CURVE = 2048  # that are worked on otherwise in the time of one curve


class Tracer:
    """Traces curves one after the other, each up to those before it.

    Parameters
    ----------
    field : Tiles
        Of the forces, (K, J, I, 3), 0 where there is none, and of what is not 0 where curves may
        run; bool or uint8 (K, J, I).
    ends : ndarray of float, (n, 3)
        Critical points at which curves end, in voxels K, J, I.
    """

    def __init__(self, field: Tiles, ends: Sequence[np.ndarray]) -> None:
        self.field = field
        self._index = empty_index(field.shape)
        if len(ends):
            self._index = insert_points(np.array(ends, float), ON_NO_CURVE, self._index)

    def trace(self, start: ArrayLike, own: int = NO_POINT) -> tuple[np.ndarray, int]:
        """Follow the force from `start`.

        Parameters
        ----------
        start : array_like, (3,)
        own : int
            Number, among `ends`, of the critical point that the curve comes from.

        Returns
        -------
        points : ndarray, (n, 3)
        ending : int
            `CRITICAL_POINT`, `CURVE` or `STALL` of `stepping`.
        """
        path, curves = self._followed(np.array([start], float), np.array([own]))
        return path[:, :3].copy(), int(curves.endings[0])

    def trace_and_keep(self, starts: np.ndarray, owns: np.ndarray) -> list[np.ndarray]:
        """Follow the force from each of the starts (n, 3) in turn, and keep all but the starts.

        Later curves end at what is kept. `owns` (n,) are their numbers as for `trace`. Returns
        points (n, 3) of each curve.
        """
        nothing = np.empty((0, 3)), np.zeros(len(starts), np.int64)
        return self._kept(starts, owns, *nothing, 1)

    def trace_along(self, leads: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Go along each lead (m, 3) in turn and on along the force from its last point.

        Later curves end at these. Returns points (n, 3) of each curve, its lead first.
        """
        if not len(leads):
            return []
        before = [np.asarray(lead[:-1], float).reshape(-1, 3) for lead in leads]
        starts = np.array([lead[-1] for lead in leads], float)
        owns, ends = np.full(len(leads), NO_POINT), np.cumsum([len(lead) for lead in before])
        found = self._kept(starts, owns, np.concatenate(before), ends, 0)
        return [np.concatenate(both) for both in zip(before, found)]

    def _kept(
        self,
        starts: np.ndarray,
        owns: np.ndarray,
        leads: np.ndarray,
        lead_ends: np.ndarray,
        kept: int,
    ) -> list[np.ndarray]:
        """Follow curves, each up to those before it, and insert them; see `end_each`."""
        path, curves = self._followed(starts, owns)
        points, self._index = end_each(
            path, curves, leads, lead_ends, kept, self.field.shape, self._index
        )
        ends = np.cumsum(curves.lengths).tolist()
        return [points[a:b] for a, b in pairwise([0, *ends])]

    def _followed(self, starts: np.ndarray, owns: np.ndarray) -> tuple[np.ndarray, Curves]:
        """Follow curves, by threads, up to what was inserted before; path (m, 6) of all."""
        count = len(starts)
        curves = Curves(starts, owns, np.zeros(count, np.int64), np.full(count, MISSING_TILE))
        parts = [
            _Part(Curves(*(column[first : first + CURVES_PER_PART] for column in curves)))
            for first in range(0, count, CURVES_PER_PART)
        ]
        left = parts
        while left:
            work = partial(self._follow_parts, left)
            in_parts(work, len(left), VOXELS_PER_CURVE * CURVES_PER_PART * len(left))
            left = [part for part in left if part.done < len(part.curves.starts)]
            self.field.require_tiles(part.tile for part in left)
        paths = [part.path[: part.curves.lengths.sum()] for part in parts]
        return np.concatenate([np.empty((0, 6)), *paths]), curves

    def _follow_parts(self, parts: Sequence["_Part"], first: int, last: int) -> None:
        tiles, longest = self.field, 4 * sum(self.field.shape)
        forces, free = tiles.volumes
        field = TiledField(forces, free, tiles.numbers, tiles.side, tiles.shape)
        for part in parts[first:last]:
            part.path, part.done, part.travelled = follow_each(
                field, self._index, part.tile, part.curves, part.path, part.done, part.travelled,
                longest,
            )  # fmt: skip


class _Part:
    """Some curves that one thread follows, as far as it came."""

    def __init__(self, curves: Curves) -> None:
        self.curves, self.path = curves, np.empty((1024, 6))
        self.done, self.travelled, self.tile = 0, 0.0, np.empty(3, np.int64)


def core_curves(tracer: Tracer, points: Sequence[CriticalPoint]) -> Iterator[np.ndarray]:
    """Yield the curves of level 1: from each saddle both ways along each outgoing eigenvector.

    Parameters
    ----------
    tracer : Tracer
    points : list of CriticalPoint
        The tracer's `ends`, in its order.

    Yields
    ------
    ndarray, (n, 3)
        Begins at its saddle.
    """
    saddles = [n for n, point in enumerate(points) if point.kind.startswith("saddle")]
    directions = outgoing_directions([points[n] for n in saddles])
    owns = np.repeat(np.array(saddles, int), np.array([len(some) for some in directions], int))
    positions = np.array([point.position for point in points]).reshape(-1, 3)[owns]
    steps = START * np.array([one for some in directions for one in some]).reshape(-1, 3)
    starts = np.stack([positions + steps, positions - steps], axis=1).reshape(-1, 3)
    owns = np.repeat(owns, 2)
    for first in range(0, len(starts), CURVES_PER_SLICE):
        some = slice(first, first + CURVES_PER_SLICE)
        paths = tracer.trace_and_keep(starts[some], owns[some])
        for own, path in zip(owns[some].tolist(), paths):
            yield np.concatenate([points[own].position[None], path])
