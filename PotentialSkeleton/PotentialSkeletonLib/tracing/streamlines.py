"""Curves that follow the force (Zhao et al. 2016, section 1, step 4).

A curve is an integral curve of the force as it is between the voxels, trilinear: its zeros are the
critical points, so from a saddle it leads to another critical point. It ends there, at a curve
that was traced before, or where the object ends.

On a tube of constant width the force along the tube is some 1/200 of the force across it: steps
that follow the force alone would have to be as short. A step is therefore exponential Euler
(`integrator`): across the tube it settles on the valley at once, and its length is spent along it.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from ..critical_points.critical_points import CriticalPoint
from ..field.tiles import Tiles
from .outgoing_directions import outgoing_directions
from .spatial_point_index import NO_POINT, empty_index, insert_points
from .stepping import MISSING_TILE, NOT_KEPT, ON_CURVE, ON_NO_CURVE, Curves, follow_each
from .tiled_field import TiledField

START = 0.3  # voxels from a saddle to the first point of its curves
CURVES_PER_SLICE = 32  # traced between two calls of the progress callback


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
        (path,), (ending,) = self._trace(np.array([start], float), np.array([own]), NOT_KEPT)
        return path, ending

    def trace_and_keep(self, starts: np.ndarray, owns: np.ndarray) -> list[np.ndarray]:
        """Follow the force from each of the starts (n, 3) in turn, and keep all but the starts.

        `owns` (n,) are their numbers as for `trace`. Returns points (n, 3) of each curve.
        """
        return self._trace(starts, owns, 1)[0]

    def trace_along(self, leads: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Go along each lead (m, 3) in turn and on along the force from its last point.

        Later curves end at these. Returns points (n, 3) of each curve, its lead first.
        """
        if not len(leads):
            return []
        starts, before = (
            np.array([lead[-1] for lead in leads], float),
            [lead[:-1] for lead in leads],
        )
        found = self._trace(starts, np.full(len(leads), NO_POINT), 0, before)[0]
        return [np.concatenate(both) for both in zip(before, found)]

    def keep(self, points: np.ndarray) -> None:
        """Insert a curve, so that later curves end at it."""
        self._index = insert_points(np.asarray(points, float), ON_CURVE, self._index)

    def _trace(
        self, starts: np.ndarray, owns: np.ndarray, kept: int, leads: Sequence[np.ndarray] = ()
    ) -> tuple[list[np.ndarray], list[int]]:
        tiles, longest, tile = self.field, 4 * sum(self.field.shape), np.empty(3, np.int64)
        count = len(starts)
        lead_ends = np.cumsum([len(lead) for lead in leads] or np.zeros(count, np.int64))
        points = np.concatenate([np.empty((0, 3)), *leads])
        found = np.zeros(count, np.int64), np.full(count, MISSING_TILE)
        curves = Curves(starts, owns, points, lead_ends, *found)
        path, done, travelled = np.empty((1024, 3)), 0, 0.0
        while True:
            forces, free = tiles.volumes
            field = TiledField(forces, free, tiles.numbers, tiles.side, tiles.shape)
            path, done, travelled, self._index = follow_each(
                field, self._index, tile, curves, kept, path, done, travelled, longest
            )
            if done == count:
                break
            tiles.add(tile)
        ends = np.cumsum(curves.lengths).tolist()
        return [path[a:b] for a, b in pairwise([0, *ends])], curves.endings.tolist()


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
