"""Random solids: unions of balls, tubes and tori, with noise, cavities and handles."""

import numpy as np
from scipy import ndimage

MOST_PARTS = 6


def random_solid(rng, largest_side=34):
    """A solid of at least one voxel; a bool array (K, J, I)."""
    shape = tuple(int(n) for n in rng.integers(6, largest_side + 1, 3))
    solid = np.zeros(shape, bool)
    for _ in range(rng.integers(1, MOST_PARTS + 1)):
        solid |= PARTS[int(rng.integers(len(PARTS)))](rng, shape)
    if rng.random() < 0.3:
        solid &= ~_ball(rng, shape, 0.15)  # a cavity, or a bite
    if rng.random() < 0.3:
        solid &= ~_tube(rng, shape, 0.08)  # a tunnel, so that there is a handle
    if rng.random() < 0.4:
        solid = _rough(rng, solid)
    if not solid.any():
        solid[tuple(n // 2 for n in shape)] = True
    return solid


def _grid(shape):
    return np.indices(shape, float, sparse=True)


def _ball(rng, shape, largest=0.45):
    radius = rng.uniform(0.6, max(largest * min(shape), 1))
    centre = [rng.uniform(0, n) for n in shape]
    return sum((x - c) ** 2 for x, c in zip(_grid(shape), centre)) <= radius**2


def _tube(rng, shape, largest=0.18):
    """A curve through four random points, with a radius that changes along it."""
    points = rng.uniform(0, 1, (4, 3)) * shape
    share = np.linspace(0, 1, 60)[:, None]
    weights = [(1 - share) ** 3, 3 * share * (1 - share) ** 2, 3 * share**2 * (1 - share), share**3]
    axis = sum(weight * point for weight, point in zip(weights, points))
    radii = np.linspace(*rng.uniform(0.5, max(largest * min(shape), 0.8), 2), len(axis))
    solid = np.zeros(shape, bool)
    for point, radius in zip(axis, radii):
        solid |= sum((x - c) ** 2 for x, c in zip(_grid(shape), point)) <= radius**2
    return solid


def _torus(rng, shape):
    direction = rng.normal(0, 1, 3)
    direction /= np.linalg.norm(direction)
    centre = rng.uniform(0.3, 0.7, 3) * shape
    ring, radius = rng.uniform(0.2, 0.4) * min(shape), rng.uniform(0.7, 0.12 * min(shape) + 0.8)
    away = [x - c for x, c in zip(_grid(shape), centre)]
    along = sum(x * d for x, d in zip(away, direction))
    across = np.sqrt(np.maximum(sum(x**2 for x in away) - along**2, 0))
    return (across - ring) ** 2 + along**2 <= radius**2


def _box(rng, shape):
    low = [int(rng.integers(0, n)) for n in shape]
    high = [int(rng.integers(a, n)) + 1 for a, n in zip(low, shape)]
    solid = np.zeros(shape, bool)
    solid[tuple(slice(a, b) for a, b in zip(low, high))] = True
    return solid


def _cloud(rng, shape):
    """Smoothed noise over a threshold: of any topology."""
    noise = ndimage.gaussian_filter(rng.random(shape), rng.uniform(0.5, 2))
    return noise >= np.quantile(noise, rng.uniform(0.5, 0.97))


PARTS = (_ball, _tube, _tube, _torus, _box, _cloud)


def _rough(rng, solid):
    """Some of the voxels on both sides of the border are flipped."""
    block = np.ones((3, 3, 3), bool)
    border = ndimage.binary_dilation(solid, block) & ~ndimage.binary_erosion(solid, block)
    return solid ^ (border & (rng.random(solid.shape) < rng.uniform(0.02, 0.4)))
