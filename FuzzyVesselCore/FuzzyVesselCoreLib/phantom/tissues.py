"""The soft tissues, air and bone of the phantom, without vessels and noise."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .anatomy import (
    AIR,
    BODY,
    CAVITY,
    KIDNEYS,
    LESION,
    LIVER,
    LUNG,
    ORGANS,
    PARASPINAL,
    PSOAS,
    SPINE_RADIUS,
    SPINE_Y,
    WALL,
    Ellipsoid,
    Grid,
    liver_distance,
    points_in_liver,
)

# blend(hu, signed distance in voxels, value): HU with a soft border
Blend = Callable[[np.ndarray, np.ndarray, Any], np.ndarray]


class Tissues:
    """The noise-free image without tubes, slab by slab."""

    def __init__(self, grid: Grid, rng: np.random.Generator) -> None:
        self.grid = grid
        self.nodes = (rng.random((6, 7, 7)) - 0.5).astype(np.float32) * 20
        self.weights = [_spline_weights(n, m) for n, m in zip(grid.shape, self.nodes.shape)]
        self.planes = [_outer(node, self.weights[1], self.weights[2]) for node in self.nodes]
        centre = points_in_liver(1, rng, depth=20.0)[0]
        radius = 9 + 6 * rng.random()
        self.lesion = Ellipsoid(LESION, tuple(centre), (radius, radius * 1.15, radius))
        _, y, x = grid.axes(0, 1)
        z = np.zeros((1, 1, 1), np.float32)
        self.body = [(e.value, e.distance(z, y, x, grid.width)) for e in (BODY, WALL, CAVITY)]
        self.cavity = CAVITY.distance(z, y, x)

    def slab(self, first: int, last: int, blend: Blend) -> tuple[np.ndarray, np.ndarray]:
        """HU of the slices first..last-1 (float32) and the liver's mask (uint8)."""
        axes = self.grid.axes(first, last)
        z, y, x = axes
        mm = np.float32(np.prod(self.grid.width) ** (1 / 3))
        hu = np.full((last - first, *self.grid.shape[1:]), AIR, np.float32)
        for value, distance in self.body:
            hu = blend(hu, distance, value)
        liver = liver_distance(z, y, x)
        lungs = np.maximum(self.cavity, np.float32(30) - z + np.float32(0.002) * (y * y + x * x))
        lungs = np.maximum(lungs, np.float32(4) - liver)
        hu = blend(hu, lungs / mm, LUNG)
        for organ in [*PARASPINAL, *PSOAS, *ORGANS, *KIDNEYS]:
            self._paint(hu, axes, organ, blend)
        hu = blend(hu, liver / mm, LIVER)
        self._paint(hu, axes, self.lesion, blend)
        self._spine(hu, axes, blend)
        return hu, (liver <= 0).astype(np.uint8)

    def _paint(
        self, hu: np.ndarray, axes: list[np.ndarray], shape: Ellipsoid, blend: Blend
    ) -> None:
        box = tuple(
            slice(*np.searchsorted(axis.reshape(-1), span))
            for axis, span in zip(axes, shape.box(self.grid.width))
        )
        part = hu[box]
        if part.size:
            z, y, x = (
                np.moveaxis(np.moveaxis(a, n, 0)[s], 0, n)
                for n, (a, s) in enumerate(zip(axes, box))
            )
            part[...] = blend(part, shape.distance(z, y, x, self.grid.width), shape.value)

    def _spine(self, hu: np.ndarray, axes: list[np.ndarray], blend: Blend) -> None:
        z, y, x = axes
        mm = np.float32(np.sqrt(self.grid.width[1] * self.grid.width[2]))
        phase = (z + np.float32(400)) % np.float32(34) - np.float32(17)
        disc = np.abs(phase) > 13.5
        radius = np.float32(SPINE_RADIUS) - np.float32(0.012) * (np.float32(15) ** 2 - phase**2)
        r = np.sqrt(((y - np.float32(SPINE_Y)) * np.float32(1.15)) ** 2 + x * x)
        body = r - radius
        hu[...] = blend(hu, body / mm, 520)
        inner = np.where(disc, body, body + np.float32(2.5))
        hu[...] = blend(hu, inner / mm, np.where(disc, np.float32(95), np.float32(215)))
        arch = np.sqrt((y - np.float32(106)) ** 2 + (x * np.float32(0.9)) ** 2)
        hu[...] = blend(hu, (arch - np.float32(15)) / mm, 480)
        hu[...] = blend(hu, (arch - np.float32(9.5)) / mm, 40)

    def unevenness(self, first: int, last: int) -> np.ndarray:
        """A smooth field of a few HU."""
        rows = self.weights[0][first:last]
        return np.asarray(
            sum(rows[:, n, None, None] * plane for n, plane in enumerate(self.planes))
        )


def _spline_weights(count: int, nodes: int) -> np.ndarray:
    """Weights (count, nodes) of uniform cubic B-splines over count voxels."""
    at = (np.arange(count) + 0.5) / count * (nodes - 3) + 1
    d = np.abs(at[:, None] - np.arange(nodes))
    near = (4 - 6 * d * d + 3 * d * d * d) / 6
    far = np.maximum(2 - d, 0) ** 3 / 6
    return np.where(d < 1, near, far).astype(np.float32)


def _outer(node: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    across = np.asarray(sum(node[:, n, None] * columns[:, n] for n in range(node.shape[1])))
    return np.asarray(sum(rows[:, n, None] * across[n] for n in range(node.shape[0])))
