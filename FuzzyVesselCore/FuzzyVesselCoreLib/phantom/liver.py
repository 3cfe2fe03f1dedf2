"""A synthetic contrast CT of a liver: known vessels, known centrelines, any size.

The anatomy is drawn in a frame of 220 x 290 x 340 mm (K,J,I: upwards, backwards, to the
patient's left) that always fills the grid. Only + - * / and square roots make shapes and grey
values, and every slice has random numbers of its own, so that a seed number gives the same
voxels on every platform, however the work is cut into slabs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from .image import FRAME, HEPATIC, PORTAL, VESSEL_HU, Grid, draw, points_in_liver
from .vessels import Branch, grow

ROOTS = {  # of the trunks: where (z, y, x), heading, radius in mm
    HEPATIC: ((52.0, 27.0, -22.0), (-0.45, -0.55, -0.7), 7.2),
    PORTAL: ((-38.0, 22.0, 2.0), (0.55, -0.2, -0.8), 6.6),
}
TRUNK_VOXELS = 3  # a trunk's radius at least, so that small volumes have vessels too
TERRITORY_LIMIT = 900  # points of a tree's territory: bounds the number of branches


@dataclass(frozen=True)
class Phantom:
    """A synthetic CT and what is true about it. Arrays are K,J,I.

    Attributes
    ----------
    volume : ndarray of int16
        Hounsfield units.
    spacing : tuple of 3 float
        Voxel size K,J,I in mm.
    mask, liver : ndarray of uint8
        1 in the trees of portal and hepatic veins; in the liver, its vessels and lesion included.
    seeds, background_seeds : ndarray of int, (n, 3)
        In trunk and a branch of both trees; bright spots of tissue, where segmentations leak first.
    seed_labels : tuple of str
        What each seed lies in.
    centrelines : list of Branch
        Both trees, which touch here and there; parents stand before their children.
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
    shape: Sequence[int] = (160, 160, 160),
    seed: int = 0,
    spacing: Sequence[float] | None = None,
    noise: float = 14.0,
) -> Phantom:
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
        Shape, spacing, seed or noise is invalid.

    Examples
    --------
    >>> phantom = liver_phantom((48, 48, 48))
    >>> bool(phantom.mask[tuple(phantom.seeds.T)].all())
    True
    """
    grid = _checked_grid(shape, spacing)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"phantom: the seed must be a whole number from 0 up, not {seed!r}")
    if not 0 <= noise < np.inf:
        raise InputError(f"phantom: noise must be a standard deviation in HU, not {noise!r}")
    rng = np.random.Generator(np.random.PCG64([seed, 1]))
    centrelines = _vessels(grid, rng)
    volume, mask, liver = draw(grid, seed, noise, centrelines, rng)
    seeds, labels = _seeds_in(centrelines)
    background = _background_seeds_in(volume, mask, liver, centrelines, grid.spacing, rng)
    return Phantom(volume, grid.spacing, mask, liver, seeds, labels, background, centrelines)


def _checked_grid(shape: Sequence[int], spacing: Sequence[float] | None) -> Grid:
    try:
        shape = tuple(int(n) for n in shape)
        natural = [n / m for n, m in zip(FRAME, shape, strict=True)]
        spacing = (min(natural[0], 4 * natural[2]), *natural[1:]) if spacing is None else spacing
        spacing = tuple(float(s) for s in spacing)
    except (TypeError, ValueError, ZeroDivisionError):
        raise InputError(f"phantom: shape {shape} and spacing {spacing} must be K,J,I") from None
    if min(shape) < 1 or min(shape[1:]) < 8:
        raise InputError(f"phantom: shape {shape} is too small; J and I must be at least 8")
    if len(spacing) != 3 or not all(0 < s < np.inf for s in spacing):
        raise InputError(f"phantom: spacing {spacing} must be three positive numbers, in mm")
    return Grid(shape, spacing)


def _vessels(grid: Grid, rng: np.random.Generator) -> list[Branch]:
    """Both trees, in voxels. Radii scale with the anatomy; the thinnest reach every voxel."""
    shape, spacing = grid.shape, grid.spacing
    # Half a voxel's diagonal: the voxel nearest to any point of the axis is in the tube.
    diagonal = np.sqrt(sum(s * s for s, n in zip(spacing, shape) if n > 1))
    smallest = max(0.8 * grid.scale, 0.5 * float(diagonal))
    grown: list[Branch] = []
    branches: list[Branch] = []
    for name, (root, heading, radius) in ROOTS.items():
        radius = max(radius * grid.scale, TRUNK_VOXELS * float(np.sort(spacing)[1]))
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


def _background_seeds_in(volume, mask, liver, centrelines, spacing, rng, count=3):
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
