"""A synthetic contrast CT of a liver: known vessels, known centrelines, any size.

The upper abdomen as smooth shapes, tubes, partial volume and noise, in a frame of 220 x 290 x
340 mm (K,J,I) that always fills the grid. Positions are z, y, x in mm from its middle: z upwards, y
backwards, x to the patient's left, as in an axial CT. Nothing is derived from a scan. Only + - * /
and square roots make shapes and grey values, and every slice has random numbers of its own, so that
a seed number gives the same voxels on every platform, however the work is cut into slabs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError
from .vessels import Branch, grow, signed_distance

FRAME = (220.0, 290.0, 340.0)
AIR, FAT, MUSCLE, LUNG, LIVER, LESION = -1000, -100, 58, -860, 110, 62
PORTAL, HEPATIC = "portal vein", "hepatic veins"
VESSEL_HU = {PORTAL: 178, HEPATIC: 190}
ROOTS = {  # of the trunks: where (z, y, x), heading, radius in mm
    HEPATIC: ((52.0, 27.0, -22.0), (-0.45, -0.55, -0.7), 7.2),
    PORTAL: ((-38.0, 22.0, 2.0), (0.55, -0.2, -0.8), 6.6),
}
TRUNK_VOXELS = 3  # a trunk's radius at least, so that small volumes have vessels too
TERRITORY_LIMIT = 900  # points of a tree's territory: bounds the number of branches
SPINE_Y, SPINE_RADIUS = 72.0, 24.0
SOFTNESS = 1.4  # width of a border in voxels: the voxel's own box and the scanner's blur
SLAB_VOXELS = 2_000_000


@dataclass(frozen=True)
class Phantom:
    """A synthetic CT and what is true about it; arrays are K,J,I.

    `volume` (int16) is in Hounsfield units, `spacing` in mm. `mask` and `liver` (uint8) are 1 in
    the trees of portal and hepatic veins, and in the liver with its vessels and lesion. `seeds`
    (n, 3) lie in trunk and a branch of both trees, as `seed_labels` say, `background_seeds` in
    bright spots of tissue, where segmentations leak first. `centrelines` are those of both trees,
    which touch here and there; parents stand before their children.
    """

    volume: np.ndarray
    spacing: tuple[float, ...]
    mask: np.ndarray
    liver: np.ndarray
    seeds: np.ndarray
    seed_labels: tuple[str, ...]
    background_seeds: np.ndarray
    centrelines: list[Branch]


def liver_phantom(
    shape: Sequence[int] = (160, 160, 160), seed: int = 0, noise: float = 14.0
) -> Phantom:
    """Make a contrast CT of a liver with two vessel trees.

    The anatomy fills any `shape` (K, J, I) with J and I of at least 8: voxels are as large as that
    needs, slices at most four voxel widths thick. Another `seed`, a whole number from 0, gives
    other vessels and other noise, `noise` its standard deviation in HU; as in CT, it is correlated
    within and between slices. `InputError` for what is invalid.

    Examples
    --------
    >>> phantom = liver_phantom((48, 48, 48))
    >>> bool(phantom.mask[tuple(phantom.seeds.T)].all())
    True
    """
    numbers = isinstance(shape, Sequence) and all(isinstance(n, int | np.integer) for n in shape)
    if not numbers or len(shape) != 3 or min(*shape, shape[1] - 7, shape[2] - 7) < 1:
        raise InputError(f"phantom: shape {shape} must be K,J,I; J and I must be at least 8")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"phantom: the seed must be a whole number from 0 up, not {seed!r}")
    if not 0 <= noise < np.inf:
        raise InputError(f"phantom: noise must be a standard deviation in HU, not {noise!r}")
    grid = Grid(tuple(map(int, shape)))
    rng = np.random.Generator(np.random.PCG64([seed, 1]))
    centrelines = _vessels(grid, rng)
    volume, mask, liver = _drawn(grid, seed, noise, centrelines, rng)
    seeds, labels = _seeds_in(centrelines)
    background = _background_seeds_in(volume, mask, liver, centrelines, grid.spacing, rng)
    return Phantom(volume, grid.spacing, mask, liver, seeds, labels, background, centrelines)


# ---- shapes in the frame


@dataclass(frozen=True)
class Grid:
    """The grid of voxels that the frame fills."""

    shape: tuple[int, ...]

    @cached_property
    def spacing(self) -> tuple[float, ...]:
        """Size of a voxel, mm: the natural size of the body, in slices that are not too thick."""
        k, j, i = (float(m / n) for m, n in zip(FRAME, self.shape))
        return min(k, 4 * i), j, i

    @property
    def stretch(self) -> np.ndarray:
        """Size of the drawn body relative to its natural size, along K,J,I."""
        return np.array(self.shape) * self.spacing / FRAME

    @property
    def width(self) -> np.ndarray:
        """Size of a voxel in the frame, mm."""
        return np.array(FRAME) / self.shape

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


@dataclass(frozen=True)
class Ellipsoid:
    """A tissue with a value in HU; an infinite radius makes a cylinder."""

    value: float
    centre: tuple[float, ...]
    radii: tuple[float, ...]

    def distance(self, z: Any, y: Any, x: Any, width: Any = (1, 1, 1)) -> np.ndarray:
        """Signed distance, negative inside: first-order exact at the surface.

        In mm; with a voxel's width in voxel widths along the surface's normal.
        """
        squares = [((p - c) / r) ** 2 for p, c, r in zip((z, y, x), self.centre, self.radii)]
        level = np.sqrt(squares[0] + squares[1] + squares[2])
        slopes = [s * np.float32((w / r) ** 2) for s, w, r in zip(squares, width, self.radii)]
        slope = np.sqrt(slopes[0] + slopes[1] + slopes[2])
        return level * (level - 1) / np.maximum(slope, np.float32(1e-6))


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


def _joined(a, b, blend):
    """Union of two signed distances with a fillet (polynomial smooth minimum)."""
    overlap = np.maximum(np.float32(blend) - np.abs(a - b), 0)
    return np.minimum(a, b) - overlap * overlap * np.float32(0.25 / blend)


def points_in_liver(count: int, rng: np.random.Generator, depth: float = 4.0) -> np.ndarray:
    """Random points in the liver, at least `depth` mm under its surface."""
    found = np.empty((0, 3))
    while len(found) < count:
        points = np.round((rng.random((4096, 3)) - 0.5) * FRAME, 3)
        found = np.concatenate([found, points[liver_distance(*points.T) < -depth]])
    return found[:count]


def tubes(grid: Grid) -> list[tuple[str, int, list[Branch]]]:
    """Aorta, vena cava and ribs as (name, HU, branches) on the grid."""
    rise = np.linspace(-FRAME[0] / 2, FRAME[0] / 2, 12)[:, None]
    bow = (rise / FRAME[0]) ** 2
    aorta = np.concatenate([rise, 40 - 18 * bow, 14 - 22 * bow], 1)
    cava = np.concatenate([rise, 36 - 26 * (rise / FRAME[0] + 0.2) ** 2, -24 + 0 * rise], 1)
    # Ribs: arcs in the wall, from the spine forwards and down; this parametrizes a circle.
    t = np.linspace(-0.72, 1.1, 30)
    side, front = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    ribs = [
        np.stack([top - 62 * (front + 1), 2 - 106 * front, sign * (8 + 134 * side)], 1)
        for top in range(-70, 240, 28)
        for sign in (-1, 1)
    ]
    made = []
    for name, value, radius, lines in (
        ("ribs", 420, 4.6, ribs),
        ("vena cava", 152, 11.0, [cava]),
        ("aorta", 208, 10.0, [aorta]),
    ):
        courses = [grid.to_mm(np.round(line, 3)) / grid.spacing - 0.5 for line in lines]
        made.append((name, value, [Branch(c, np.full(len(c), radius), -1, name) for c in courses]))
    return made


def _vessels(grid: Grid, rng: np.random.Generator) -> list[Branch]:
    """Both trees, in voxels. Radii scale with the anatomy; the thinnest reach every voxel."""
    shape, spacing = grid.shape, grid.spacing
    # Half a voxel's diagonal: the voxel nearest to any point of the axis is in the tube.
    diagonal = np.sqrt(sum(s * s for s, n in zip(spacing, shape) if n > 1))
    smallest = max(0.8, 0.5 * float(diagonal))
    grown: list[Branch] = []
    branches: list[Branch] = []
    for name, (root, heading, radius) in ROOTS.items():
        radius = max(radius, TRUNK_VOXELS * float(np.sort(spacing)[1]))
        count = int(np.clip((radius / smallest) ** 3, 6, TERRITORY_LIMIT))
        territory = grid.to_mm(points_in_liver(count, rng))
        turned = np.asarray(heading) * grid.stretch
        tree = grow(name, grid.to_mm(root), turned, territory, radius, smallest, rng, grown)
        first = len(branches)
        for branch in tree:
            parent = branch.parent + first if branch.parent >= 0 else -1
            points = np.clip(branch.points / spacing, 0, shape) - 0.5
            points[:, np.array(shape) == 1] = 0  # a single slice shows the trees flattened
            branches.append(Branch(np.round(points, 4), np.round(branch.radius, 4), parent, name))
        grown += tree
    return branches


# ---- voxels


def _drawn(grid, seed, noise, centrelines, rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw the CT (int16), the vessels' mask and the liver's (uint8), slab by slab."""
    shape = grid.shape
    volume = np.empty(shape, np.int16)
    mask, liver = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
    image, grain = _Image(grid, centrelines, rng), _noise(shape, seed)
    thick = max(1, SLAB_VOXELS // (shape[1] * shape[2]))
    for first in range(0, shape[0], thick):
        last = min(first + thick, shape[0])
        hu, mask[first:last], liver[first:last] = image.slab(first, last)
        for plane in hu:
            plane += np.float32(noise) * next(grain)
        volume[first:last] = np.clip(np.rint(hu), -1024, 3071)
    return volume, mask, liver


class _Image:
    """The noise-free image."""

    def __init__(self, grid, centrelines, rng):
        self.grid = grid
        trees = [(n, VESSEL_HU[n], [b for b in centrelines if b.tree == n]) for n in VESSEL_HU]
        self.tubes = [*tubes(grid), *trees]
        nodes = (rng.random((6, 7, 7)) - 0.5).astype(np.float32) * 20
        self.weights = [_spline_weights(n, m) for n, m in zip(grid.shape, nodes.shape)]
        self.planes = [_outer(node, self.weights[1], self.weights[2]) for node in nodes]
        centre = points_in_liver(1, rng, depth=20.0)[0]
        radius = 9 + 6 * rng.random()
        lesion = Ellipsoid(LESION, tuple(centre), (radius, radius * 1.15, radius))
        self.over_liver, self.under_liver = [lesion], [*PARASPINAL, *PSOAS, *ORGANS, *KIDNEYS]
        _, y, x = grid.axes(0, 1)
        z = np.zeros((1, 1, 1), np.float32)
        self.body = [(e.value, e.distance(z, y, x, grid.width)) for e in (BODY, WALL, CAVITY)]
        self.cavity = CAVITY.distance(z, y, x)

    def slab(self, first, last):
        """HU (float32), vessels and liver (uint8) of the slices first..last-1."""
        axes = z, y, x = self.grid.axes(first, last)
        mm = np.float32(np.prod(self.grid.width) ** (1 / 3))
        hu = np.full((last - first, *self.grid.shape[1:]), AIR, np.float32)
        for value, distance in self.body:
            hu = _blend(hu, distance, value)
        liver = liver_distance(z, y, x)
        lungs = np.maximum(self.cavity, np.float32(30) - z + np.float32(0.002) * (y * y + x * x))
        hu = _blend(hu, np.maximum(lungs, np.float32(4) - liver) / mm, LUNG)
        self._paint(hu, axes, self.under_liver)
        hu = _blend(hu, liver / mm, LIVER)
        self._paint(hu, axes, self.over_liver)
        self._spine(hu, axes)
        mask = np.zeros(hu.shape, np.uint8)
        for name, value, tube in self.tubes:
            distance = signed_distance(tube, self.grid.shape, self.grid.spacing, first, last)
            hu = _blend(hu, distance, value)
            if name in VESSEL_HU:
                mask[distance <= 0] = 1
        rows = self.weights[0][first:last]  # a smooth unevenness of a few HU
        uneven = sum(rows[:, n, None, None] * plane for n, plane in enumerate(self.planes))
        hu += uneven * (hu > -300)
        return hu, mask, (liver <= 0).astype(np.uint8)

    def _paint(self, hu, axes, shapes):
        """Draw shapes, each in the box outside of which it is not visible."""
        width = self.grid.width
        for shape in shapes:
            centre, reach = np.array(shape.centre), np.array(shape.radii) + 2 * width
            ends = zip(centre - reach, centre + reach)
            box = tuple(slice(*np.searchsorted(a.reshape(-1), pair)) for a, pair in zip(axes, ends))
            part = hu[box]
            if part.size:
                around = [
                    np.moveaxis(np.moveaxis(a, n, 0)[box[n]], 0, n) for n, a in enumerate(axes)
                ]
                part[...] = _blend(part, shape.distance(*around, width), shape.value)

    def _spine(self, hu, axes):
        z, y, x = axes
        mm = np.float32(np.sqrt(self.grid.width[1] * self.grid.width[2]))
        phase = (z + np.float32(400)) % np.float32(34) - np.float32(17)
        disc = np.abs(phase) > 13.5
        radius = np.float32(SPINE_RADIUS) - np.float32(0.012) * (np.float32(15) ** 2 - phase**2)
        r = np.sqrt(((y - np.float32(SPINE_Y)) * np.float32(1.15)) ** 2 + x * x)
        body = r - radius
        hu[...] = _blend(hu, body / mm, 520)
        inner = np.where(disc, body, body + np.float32(2.5))
        hu[...] = _blend(hu, inner / mm, np.where(disc, np.float32(95), np.float32(215)))
        arch = np.sqrt((y - np.float32(106)) ** 2 + (x * np.float32(0.9)) ** 2)
        hu[...] = _blend(hu, (arch - np.float32(15)) / mm, 480)
        hu[...] = _blend(hu, (arch - np.float32(9.5)) / mm, 40)


def _blend(hu, distance, value):
    """Partial volume: a border's share of the voxel falls linearly with the distance in voxels."""
    share = np.clip(np.float32(0.5) - distance * np.float32(1 / SOFTNESS), 0, 1)
    return hu + share * (np.float32(value) - hu)


def _spline_weights(count, nodes):
    """Weights (count, nodes) of uniform cubic B-splines over count voxels."""
    at = (np.arange(count) + 0.5) / count * (nodes - 3) + 1
    d = np.abs(at[:, None] - np.arange(nodes))
    near = (4 - 6 * d * d + 3 * d * d * d) / 6
    far = np.maximum(2 - d, 0) ** 3 / 6
    return np.where(d < 1, near, far).astype(np.float32)


def _outer(node, rows, columns):
    across = sum(node[:, n, None] * columns[:, n] for n in range(node.shape[1]))
    return sum(rows[:, n, None] * across[n] for n in range(node.shape[0]))


# ---- noise

FINE = (1 / 4, 2 / 4, 1 / 4)
COARSE = (1 / 27, 3 / 27, 6 / 27, 7 / 27, 6 / 27, 3 / 27, 1 / 27)
ACROSS = (1, 3, 1)


def _noise(shape, seed):
    """Unit-variance grain of a CT, slice by slice: blurred, without the coarsest part."""
    point = np.pad(FINE, 2)
    kernel = np.outer(point, point) - 0.5 * np.outer(COARSE, COARSE)
    energy = (kernel * kernel).sum() * sum(w * w for w in ACROSS)
    scale = np.float32(1 / np.sqrt(energy))
    grains = [_grain(shape[1:], seed, k) for k in (-1, 0)]
    for k in range(shape[0]):
        grains = [*grains[-2:], _grain(shape[1:], seed, k + 1)]
        yield sum(np.float32(w) * grain for w, grain in zip(ACROSS, grains)) * scale


def _grain(plane, seed, k):
    generator = np.random.Generator(np.random.PCG64([seed, 2, k + 1]))
    white = generator.standard_normal([n + 6 for n in plane], np.float32)
    return _convolved(white, FINE)[2:-2, 2:-2] - np.float32(0.5) * _convolved(white, COARSE)


def _convolved(image, taps):
    """Separable convolution, without the border that lacks neighbours."""
    for axis in (0, 1):
        size = image.shape[axis] - len(taps) + 1
        moved = image.swapaxes(0, axis)
        image = sum(np.float32(t) * moved[i : i + size] for i, t in enumerate(taps))
        image = image.swapaxes(0, axis)
    return image


# ---- clicks


def _seeds_in(centrelines: list[Branch]) -> tuple[np.ndarray, tuple[str, ...]]:
    """The middle of the trunk and of a wide branch of each tree, and their labels."""
    seeds, labels = [], []
    for name in VESSEL_HU:
        tree = [b for b in centrelines if b.tree == name]
        branch = max(tree[1:], key=lambda b: (len(b.points) > 3, b.radius[-1]), default=tree[0])
        for where, middle in (("trunk", tree[0]), ("branch in the liver", branch)):
            seeds.append(np.rint(middle.points[len(middle.points) // 2]).astype(int))
            labels.append(f"{name}, {where}")
    return np.array(seeds), tuple(labels)


def _background_seeds_in(volume, mask, liver, centrelines, spacing, rng):
    """Where a segmentation leaks first: the brightest of some spots of tissue off the vessels."""
    from scipy.spatial import cKDTree

    step = max(1, mask.size // 20_000_000)
    where = np.flatnonzero((liver.reshape(-1)[::step] > 0) & (mask.reshape(-1)[::step] == 0)) * step
    if not len(where):
        where = np.flatnonzero(mask == 0)
    where = where[rng.integers(0, len(where), 4000)]
    voxels = np.stack(np.unravel_index(where, mask.shape), 1)
    axis = cKDTree(np.concatenate([b.points for b in centrelines]) * spacing)
    distance, nearest = axis.query(voxels * np.asarray(spacing))
    distance -= np.concatenate([b.radius for b in centrelines])[nearest]
    off = distance >= min(5 * np.sort(spacing)[1], np.quantile(distance, 0.9))
    voxels = voxels[off]
    brightness = np.zeros(len(voxels), int)
    for shift in np.ndindex(3, 3, 3):
        near = np.clip(voxels + shift - 1, 0, np.array(mask.shape) - 1)
        brightness += volume[tuple(near.T)]
    return voxels[np.argsort(-brightness, kind="stable")[:3]]
