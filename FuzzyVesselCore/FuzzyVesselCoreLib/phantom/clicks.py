"""Clicks on the phantom: seeds inside the vessels, and background seeds beside them."""

import numpy as np

from ..errors import InputError
from .image import VESSEL_HU
from .tubes import Branch


def seeds_in(centrelines: list[Branch]) -> tuple[np.ndarray, tuple[str, ...]]:
    """The middle of the trunk and of a wide branch of each tree, and their labels."""
    seeds, labels = [], []
    for name in VESSEL_HU:
        tree = [b for b in centrelines if b.tree == name]
        branch = max(tree[1:], key=lambda b: (len(b.points) > 3, b.radius[-1]), default=tree[0])
        for where, course in (("trunk", tree[0]), ("branch in the liver", branch)):
            seeds.append(np.rint(course.points[len(course.points) // 2]).astype(int))
            labels.append(f"{name}, {where}")
    return np.array(seeds), tuple(labels)


def background_seeds_in(
    volume: np.ndarray,
    mask: np.ndarray,
    liver: np.ndarray,
    centrelines: list[Branch],
    spacing: tuple[float, ...],
    rng: np.random.Generator,
    count: int = 3,
) -> np.ndarray:
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
