"""The upper abdomen around a liver, as smooth shapes in a frame of 220 x 290 x 340 mm (K,J,I).

Positions are z, y, x in mm from the frame's middle: z upwards, y backwards, x to the
patient's left, as in an axial CT. Nothing is derived from a scan.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .vessels import Branch

FRAME = (220.0, 290.0, 340.0)
AIR, FAT, MUSCLE, LUNG, LIVER, LESION = -1000, -100, 58, -860, 110, 62

# Trunks: where (z, y, x), heading, radius in mm
PORTAL_ROOT = ((-38.0, 22.0, 2.0), (0.55, -0.2, -0.8), 6.6)
HEPATIC_ROOT = ((52.0, 27.0, -22.0), (-0.45, -0.55, -0.7), 7.2)

SPINE_Y, SPINE_RADIUS = 72.0, 24.0


@dataclass(frozen=True)
class Grid:
    """The grid of voxels that the frame fills."""

    shape: tuple[int, ...]
    spacing: tuple[float, ...]

    @property
    def stretch(self) -> np.ndarray:
        """Size of the drawn body relative to its natural size, along K,J,I."""
        return np.array(self.shape) * self.spacing / FRAME

    @property
    def scale(self) -> float:
        """One factor for all three axes, for round shapes."""
        return float(np.sort(self.stretch)[1])

    def to_mm(self, position: Any) -> np.ndarray:
        """From the frame's z, y, x to mm from the grid's corner."""
        return (np.asarray(position) + np.array(FRAME) / 2) * self.stretch

    def axes(self, first: int, last: int) -> list[np.ndarray]:
        """z, y, x of the voxels' centres in slices first..last-1; broadcast to the slab."""
        axes = []
        for a, (low, high) in enumerate([(first, last), *((0, n) for n in self.shape[1:])]):
            centre = (np.arange(low, high) + 0.5) * (FRAME[a] / self.shape[a]) - FRAME[a] / 2
            axes.append(centre.astype(np.float32).reshape([-1 if b == a else 1 for b in range(3)]))
        return axes

    @property
    def width(self) -> np.ndarray:
        """Size of a voxel in the frame, mm."""
        return np.array(FRAME) / self.shape


@dataclass(frozen=True)
class Ellipsoid:
    """A tissue with a value in HU; an infinite radius makes a cylinder."""

    value: float
    centre: tuple[float, ...]
    radii: tuple[float, ...]

    def distance(
        self, z: np.ndarray, y: np.ndarray, x: np.ndarray, width: Any = (1, 1, 1)
    ) -> np.ndarray:
        """Signed distance, negative inside: first-order exact at the surface.

        In mm; with a voxel's width in voxel widths along the surface's normal.
        """
        squares = [((p - c) / r) ** 2 for p, c, r in zip((z, y, x), self.centre, self.radii)]
        level = np.sqrt(squares[0] + squares[1] + squares[2])
        slopes = [s * np.float32((w / r) ** 2) for s, w, r in zip(squares, width, self.radii)]
        slope = np.sqrt(slopes[0] + slopes[1] + slopes[2])
        return level * (level - 1) / np.maximum(slope, np.float32(1e-6))

    def box(self, width: np.ndarray) -> list[tuple[float, float]]:
        """Half-open ranges in the frame outside of which it is not visible."""
        return [(c - r - 2 * w, c + r + 2 * w) for c, r, w in zip(self.centre, self.radii, width)]


INF = np.inf
BODY = Ellipsoid(FAT, (0, 4, 0), (INF, 128, 164))
WALL = Ellipsoid(MUSCLE, (0, 4, 0), (INF, 112, 148))
CAVITY = Ellipsoid(FAT, (0, -4, 0), (INF, 94, 132))
PARASPINAL = [Ellipsoid(MUSCLE, (0, 88, s * 34), (INF, 27, 32)) for s in (-1, 1)]
PSOAS = [Ellipsoid(MUSCLE, (-90, 62, s * 34), (70, 18, 15)) for s in (-1, 1)]

# Liver: three lobes, and the hollow of its lower, inner face
RIGHT_LOBE = Ellipsoid(LIVER, (4, 6, -66), (80, 76, 60))
RIGHT_APEX = Ellipsoid(LIVER, (-44, 8, -82), (48, 50, 40))
LEFT_LOBE = Ellipsoid(LIVER, (26, -44, -2), (44, 42, 74))
HOLLOW = Ellipsoid(FAT, (-62, 22, -8), (58, 44, 34))

ORGANS = [
    Ellipsoid(140, (98, -30, 26), (42, 44, 58)),  # heart
    Ellipsoid(35, (30, -10, 78), (58, 48, 40)),  # stomach, fluid
    Ellipsoid(-950, (38, -36, 78), (42, 18, 28)),  # stomach, gas
    Ellipsoid(128, (30, 46, 100), (52, 40, 24)),  # spleen
    Ellipsoid(92, (-36, 4, 34), (12, 13, 46)),  # pancreas
    Ellipsoid(42, (-72, -62, 10), (22, 22, 66)),  # colon, across
    Ellipsoid(-820, (-70, -74, 22), (13, 8, 40)),
    Ellipsoid(48, (-84, 8, 104), (46, 24, 20)),  # colon, left
    Ellipsoid(-800, (-76, -2, 104), (24, 10, 12)),
    Ellipsoid(55, (-104, -18, 14), (20, 20, 24)),  # small bowel
    Ellipsoid(62, (-98, -14, 58), (16, 22, 19)),
    Ellipsoid(50, (-108, 12, 60), (18, 17, 22)),
    Ellipsoid(58, (-106, -40, -36), (18, 20, 24)),
    Ellipsoid(70, (-56, 18, -26), (26, 13, 12)),  # duodenum
    Ellipsoid(12, (-62, -40, -50), (26, 16, 15)),  # gallbladder
]
KIDNEYS = [
    part
    for side, up in ((-1, -74), (1, -48))
    for part in (
        Ellipsoid(205, (up, 58, side * 62), (54, 27, 25)),
        Ellipsoid(150, (up, 56, side * 60), (36, 15, 13)),
        Ellipsoid(-60, (up, 50, side * 50), (20, 10, 12)),
    )
]


def liver_distance(z: Any, y: Any, x: Any) -> Any:
    """Signed distance to the liver's surface in the frame, about mm; negative inside."""
    lobes = _joined(RIGHT_LOBE.distance(z, y, x), LEFT_LOBE.distance(z, y, x), 34)
    lobes = _joined(lobes, RIGHT_APEX.distance(z, y, x), 24)
    return -_joined(-lobes, HOLLOW.distance(z, y, x), 14)


def _joined(a: Any, b: Any, blend: float) -> Any:
    """Union of two signed distances with a fillet (polynomial smooth minimum)."""
    overlap = np.maximum(np.float32(blend) - np.abs(a - b), 0)
    return np.minimum(a, b) - overlap * overlap * np.float32(0.25 / blend)


def points_in_liver(count: int, rng: np.random.Generator, depth: float = 4.0) -> np.ndarray:
    """Random points in the liver, at least `depth` mm under its surface."""
    found = np.empty((0, 3))
    while len(found) < count:
        points = np.round((rng.random((4096, 3)) - 0.5) * FRAME, 3)
        inside = liver_distance(*points.T) < -depth
        found = np.concatenate([found, points[inside]])
    return found[:count]


# --- tubes: great vessels and ribs ----------------------------------------------------------


def tubes(grid: Grid) -> list[tuple[str, float, list[Branch]]]:
    """Aorta, vena cava and ribs as (name, HU, branches) on the grid."""
    rise = np.linspace(-FRAME[0] / 2, FRAME[0] / 2, 12)[:, None]
    bow = (rise / FRAME[0]) ** 2
    aorta = np.concatenate([rise, 40 - 18 * bow, 14 - 22 * bow], 1)
    cava = np.concatenate([rise, 36 - 26 * (rise / FRAME[0] + 0.2) ** 2, -24 + 0 * rise], 1)
    return [
        ("ribs", 420, [_branch(grid, rib, 4.6, "ribs") for rib in _ribs()]),
        ("vena cava", 152, [_branch(grid, cava, 11.0, "vena cava")]),
        ("aorta", 208, [_branch(grid, aorta, 10.0, "aorta")]),
    ]


def _branch(grid: Grid, points: np.ndarray, radius: float, name: str) -> Branch:
    mm = grid.to_mm(np.round(points, 3))
    return Branch(
        mm / grid.spacing - 0.5, np.full(len(points), round(radius * grid.scale, 4)), -1, name
    )


def _ribs() -> Iterator[np.ndarray]:
    """Arcs in the wall, from the spine forwards and down."""
    t = np.linspace(-0.72, 1.1, 30)  # (1 - t^2) / (1 + t^2), 2 t / (1 + t^2) is a circle
    side, front = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    for top in range(-70, 240, 28):
        for sign in (-1, 1):
            z = top - 62 * (front + 1)
            yield np.stack([z, 2 - 106 * front, sign * (8 + 134 * side)], 1)


# ---- tissues

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

    def _paint(self, hu, axes, shape, blend):
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
