"""A contrast CT of a liver that never was: known vessels, known centrelines, any size.

The anatomy is drawn in a frame of 220 x 290 x 340 mm (K,J,I: upwards, backwards, to the
patient's left) that always fills the grid. Only + - * / and square roots make shapes and grey
values, and every slice has random numbers of its own, so that a seed number gives the same
voxels on every platform, however the work is cut into slabs.
"""

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from . import anatomy
from .tubes import FAR, Branch, segments, signed_distance
from .vascular_tree import grow

SOFTNESS = 1.4  # width of a border in voxels: the voxel's own box and the scanner's blur
SLAB_VOXELS = 2_000_000
PORTAL, HEPATIC = "portal vein", "hepatic veins"
VESSEL_HU = {PORTAL: 178, HEPATIC: 190}
TRUNK_VOXELS = 3  # a trunk's radius at least, so that small volumes have vessels too
TERRITORY_LIMIT = 900  # points a tree is grown into: bounds the number of branches


@dataclass(frozen=True)
class Phantom:
    """A synthetic CT and what is true about it. Arrays are K,J,I.

    Attributes
    ----------
    volume : ndarray of int16
        Hounsfield units.
    spacing : tuple of 3 float
        Voxel size K,J,I in mm.
    mask : ndarray of uint8
        1 where the voxel's centre lies in the portal vein's tree or the hepatic veins'.
    liver : ndarray of uint8
        1 in the liver, its vessels and its lesion included.
    seeds : ndarray of int, (n, 3)
        Voxels inside the vessels: trunk and a branch of both trees.
    seed_labels : tuple of str
        What each seed lies in.
    background_seeds : ndarray of int, (m, 3)
        Bright spots of liver tissue off the vessels: where a segmentation leaks first.
    centrelines : list of Branch
        Both trees; parents stand before their children. The trees make detours to keep clear
        of each other, but here and there they touch.
    """

    volume: np.ndarray
    spacing: tuple
    mask: np.ndarray
    liver: np.ndarray
    seeds: np.ndarray
    seed_labels: tuple
    background_seeds: np.ndarray
    centrelines: list


def liver_phantom(shape=(160, 160, 160), seed=0, spacing=None, noise=14.0):
    """Make a contrast CT of a liver with two vessel trees.

    Parameters
    ----------
    shape : (K, J, I)
        Any size with J and I of at least 8; K may be 1.
    seed : int
        Number of the patient: another seed gives other vessels and other noise.
    spacing : (K, J, I) floats, optional
        Voxel size in mm. The anatomy always fills the grid; without a spacing it has
        its natural size of 220 x 290 x 340 mm (slices at most four voxel widths thick).
    noise : float
        Standard deviation of the noise in HU; CT-like: correlated within and between slices.

    Returns
    -------
    Phantom

    Raises
    ------
    InputError
        Shape, spacing, seed or noise cannot be used.
    """
    shape, spacing = _checked(shape, seed, spacing, noise)
    rng = np.random.Generator(np.random.PCG64([seed, 1]))
    centrelines = _vessels(shape, spacing, rng)
    volume, mask, liver = _draw(shape, spacing, seed, noise, centrelines, rng)
    seeds, labels = _seeds(centrelines)
    background = _background_seeds(centrelines, volume, mask, liver, spacing, rng)
    return Phantom(volume, spacing, mask, liver, seeds, labels, background, centrelines)


def _checked(shape, seed, spacing, noise):
    try:
        shape = tuple(int(n) for n in shape)
        natural = [n / m for n, m in zip(anatomy.FRAME, shape, strict=True)]
        spacing = (min(natural[0], 4 * natural[2]), *natural[1:]) if spacing is None else spacing
        spacing = tuple(float(s) for s in spacing)
    except (TypeError, ValueError, ZeroDivisionError):
        raise InputError(f"phantom: shape {shape} and spacing {spacing} must be K,J,I") from None
    if min(shape) < 1 or min(shape[1:]) < 8:
        raise InputError(f"phantom: shape {shape} is too small; J and I must be at least 8")
    if len(spacing) != 3 or not all(0 < s < np.inf for s in spacing):
        raise InputError(f"phantom: spacing {spacing} must be three positive numbers, in mm")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"phantom: the seed must be a whole number from 0 up, not {seed!r}")
    if not 0 <= noise < np.inf:
        raise InputError(f"phantom: noise must be a standard deviation in HU, not {noise!r}")
    return shape, spacing


# --- vessels ------------------------------------------------------------------------------


def _vessels(shape, spacing, rng):
    """Both trees, in voxels. Radii scale with the anatomy; the thinnest reach every voxel."""
    grid = anatomy.Grid(shape, spacing)
    # Half a voxel's diagonal: the voxel nearest to any point of the axis is in the tube.
    diagonal = np.sqrt(sum(s * s for s, n in zip(spacing, shape) if n > 1))
    smallest = max(0.8 * grid.scale, 0.5 * float(diagonal))
    courses, branches = [], []
    for name, (root, heading, radius) in {
        HEPATIC: anatomy.HEPATIC_ROOT,
        PORTAL: anatomy.PORTAL_ROOT,
    }.items():
        radius = max(radius * grid.scale, TRUNK_VOXELS * float(np.sort(spacing)[1]))
        count = int(np.clip((radius / smallest) ** 3, 6, TERRITORY_LIMIT))
        territory = grid.to_mm(anatomy.points_in_liver(count, rng))
        turned = np.asarray(heading) * grid.stretch
        tree = grow(grid.to_mm(root), turned, territory, radius, smallest, rng, courses)
        first = len(branches)
        for course in tree:
            parent = course.parent + first if course.parent >= 0 else -1
            points = np.clip(course.points / spacing, 0, shape) - 0.5
            points[:, np.array(shape) == 1] = 0  # a slice shows the trees laid flat
            branches.append(Branch(np.round(points, 4), np.round(course.radius, 4), parent, name))
        courses = courses + tree
    return branches


# --- voxels -------------------------------------------------------------------------------


def _draw(shape, spacing, seed, noise, centrelines, rng):
    volume = np.empty(shape, np.int16)
    mask, liver = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
    scene = _Scene(anatomy.Grid(shape, spacing), centrelines, rng)
    grain = _Noise(shape, seed)
    thick = max(1, SLAB_VOXELS // (shape[1] * shape[2]))
    for first in range(0, shape[0], thick):
        last = min(first + thick, shape[0])
        hu, mask[first:last], liver[first:last] = scene.slab(first, last)
        for k in range(first, last):
            hu[k - first] += np.float32(noise) * grain.slice(k)
        volume[first:last] = np.clip(np.rint(hu), -1024, 3071)
    return volume, mask, liver


class _Scene:
    """The noise-free image, slab by slab."""

    def __init__(self, grid, centrelines, rng):
        self.grid = grid
        self.tubes = {
            name: (hu, segments(branches, grid.shape, grid.spacing))
            for name, hu, branches in [
                *anatomy.tubes(grid),
                *((n, VESSEL_HU[n], [b for b in centrelines if b.tree == n]) for n in VESSEL_HU),
            ]
        }
        self.tissue = anatomy.Tissues(grid, rng)

    def slab(self, first, last):
        hu, liver = self.tissue.slab(first, last, self._blend)
        mask = np.zeros(hu.shape, np.uint8)
        for name, (value, tubes) in self.tubes.items():
            distance = signed_distance(tubes, self.grid.shape, self.grid.spacing, first, last)
            near = np.flatnonzero(distance.reshape(-1) < FAR)
            at = distance.reshape(-1)[near]
            flat = hu.reshape(-1)
            flat[near] = self._blend(flat[near], at, value)
            if name in VESSEL_HU:
                mask.reshape(-1)[near[at <= 0]] = 1
        hu += self.tissue.unevenness(first, last) * (hu > -300)
        return hu, mask, liver

    @staticmethod
    def _blend(hu, distance, value):
        """Partial volume: a border's share of the voxel falls linearly with the distance."""
        share = np.clip(np.float32(0.5) - distance * np.float32(1 / SOFTNESS), 0, 1)
        return hu + share * (np.float32(value) - hu)


class _Noise:
    """Unit-variance grain of a CT: blurred, without the coarsest part, coupled across slices."""

    FINE = (1 / 4, 2 / 4, 1 / 4)
    COARSE = (1 / 27, 3 / 27, 6 / 27, 7 / 27, 6 / 27, 3 / 27, 1 / 27)
    ACROSS = (1, 3, 1)

    def __init__(self, shape, seed):
        self.plane, self.seed, self.made = shape[1:], seed, {}
        point = np.pad(self.FINE, 2)
        kernel = np.outer(point, point) - 0.5 * np.outer(self.COARSE, self.COARSE)
        energy = (kernel * kernel).sum() * sum(w * w for w in self.ACROSS)
        self.scale = np.float32(1 / np.sqrt(energy))

    def slice(self, k):
        across = sum(np.float32(w) * self._grain(k + n) for n, w in zip((-1, 0, 1), self.ACROSS))
        return across * self.scale

    def _grain(self, k):
        if k not in self.made:
            self.made = {n: g for n, g in self.made.items() if n >= k - 2}
            generator = np.random.Generator(np.random.PCG64([self.seed, 2, k + 1]))
            size = [n + 6 for n in self.plane]
            white = generator.standard_normal(size, np.float32)
            fine = _convolved(white, self.FINE)[2:-2, 2:-2]
            coarse = _convolved(white, self.COARSE)
            self.made[k] = fine - np.float32(0.5) * coarse
        return self.made[k]


def _convolved(image, taps):
    """Separable, without the border that lacks neighbours."""
    n = len(taps)
    taps = [np.float32(t) for t in taps]
    rows = sum(t * image[i : image.shape[0] - n + 1 + i] for i, t in enumerate(taps))
    return sum(t * rows[:, i : rows.shape[1] - n + 1 + i] for i, t in enumerate(taps))


# --- clicks -------------------------------------------------------------------------------


def _seeds(centrelines):
    """The trunk's middle and the middle of a wide branch of each tree."""
    seeds, labels = [], []
    for name in VESSEL_HU:
        tree = [b for b in centrelines if b.tree == name]
        branch = max(tree[1:], key=lambda b: (len(b.points) > 3, b.radius[-1]), default=tree[0])
        for where, course in (("trunk", tree[0]), ("branch in the liver", branch)):
            seeds.append(np.rint(course.points[len(course.points) // 2]).astype(int))
            labels.append(f"{name}, {where}")
    return np.array(seeds), tuple(labels)


def _background_seeds(centrelines, volume, mask, liver, spacing, rng, count=3):
    """Where a segmentation leaks first: the brightest of some spots of tissue off the vessels."""
    from scipy.spatial import cKDTree

    step = max(1, mask.size // 20_000_000)
    where = np.flatnonzero((liver.reshape(-1)[::step] > 0) & (mask.reshape(-1)[::step] == 0)) * step
    if not len(where):
        where = np.flatnonzero(mask == 0)
    if not len(where):
        raise InputError(f"phantom: voxels of {spacing} mm are too coarse; vessels fill the grid")
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
    return voxels[np.argsort(-brightness, kind="stable")[:count]]
