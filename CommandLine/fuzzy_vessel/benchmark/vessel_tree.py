"""A volume to time, its seeds and affinity; a synthetic tree of vessels."""

from dataclasses import dataclass

import numpy as np

from FuzzyConnectedGPULib import GaussianAffinity

TISSUE, VESSEL, WALL = 100, 220, 3000
SIGMA, GRADIENT_SIGMA = 30.0, 15.0


@dataclass(frozen=True)
class Case:
    """A volume (K, J, I), its seeds (n, 3) and the affinity."""

    name: str
    volume: np.ndarray
    seeds: np.ndarray
    affinity: GaussianAffinity


def described(case: Case) -> str:
    """The case with its size, as people say it: I x J x K."""
    return f"{case.name}, {'x'.join(map(str, case.volume.shape[::-1]))} {case.volume.dtype}"


def vessel_tree(shape: tuple[int, int, int], number: int = 0) -> Case:
    """A tree of tubes that thin out, in tissue that is uneven and noisy, int16.

    Returns
    -------
    Case
        With seeds in the root and in two other places of the tree.
    """
    from scipy import ndimage

    rng = np.random.default_rng(number)
    points = _tree_points(shape, rng)
    vessels = _painted(points, shape)
    volume = ndimage.gaussian_filter(vessels, 1.0, output=np.float32)
    volume *= VESSEL - TISSUE
    volume += TISSUE
    noise = ndimage.gaussian_filter(rng.standard_normal(shape, np.float32), 0.7)
    noise *= 12 / noise[::7].std()
    volume += noise
    del noise
    volume += _uneven(shape, rng)
    volume = np.clip(np.rint(volume, out=volume), -1024, 3071).astype(np.int16)
    seeds = np.rint(points[[0, len(points) // 3, 2 * len(points) // 3], :3]).astype(int)
    mean = float(np.mean([volume[_around(seed)].mean() for seed in seeds]))
    return Case("vessel tree", volume, seeds, GaussianAffinity(mean, SIGMA, GRADIENT_SIGMA))


def _tree_points(shape, rng):
    """Points (n, 4) K, J, I and radius along branches that wander, turn back at the border, and
    give off thinner ones."""
    least, most = np.minimum(4.0, np.array(shape) / 4), np.array(shape) - 1.0
    most -= least
    points, waiting = [], [(np.array(shape) / 2, rng.normal(size=3), 1.2 * max(shape), 6.0)]
    budget = 40 * max(shape) + np.prod(shape) // 500
    while waiting and len(points) < budget:
        place, heading, length, radius = waiting.pop(0)
        steps = int(2 * length)
        for step in range(steps):
            heading = heading + 0.12 * rng.normal(size=3)
            heading /= np.linalg.norm(heading)
            place = place + 0.5 * heading
            outside = (place < least) | (place > most)
            heading = np.where(outside, -heading, heading)
            place = np.clip(place, least, most)
            points.append((*place, radius * (1 - 0.5 * step / steps)))
            if rng.random() < 0.006 and length > 60 and radius > 1:
                waiting.append((place, heading + rng.normal(size=3), 0.55 * length, 0.7 * radius))
    return np.array(points)


def _painted(points, shape):
    """1 (float32) in balls round the points, else 0."""
    vessels = np.zeros(shape, np.float32)
    voxels, radii = np.rint(points[:, :3]).astype(int), np.rint(points[:, 3]).astype(int)
    top = np.array(shape) - 1
    for radius in np.unique(radii):
        centres = voxels[radii == radius]
        for offset in np.ndindex(*(3 * (2 * radius + 1,))):
            offset = np.array(offset) - radius
            if offset @ offset <= radius * radius:
                vessels[tuple(np.clip(centres + offset, 0, top).T)] = 1
    return vessels


def _uneven(shape, rng, coarse=12):
    """Smooth unevenness of standard deviation 20, float32."""
    from scipy import ndimage

    size = [n // coarse + 3 for n in shape]
    field = ndimage.gaussian_filter(rng.standard_normal(size, np.float32), 0.7)
    field *= 20 / field.std()
    for axis, n in enumerate(shape):
        at = np.arange(n, dtype=np.float32) / coarse
        below, share = at.astype(int), at - at.astype(int)
        share = share.reshape([-1 if a == axis else 1 for a in range(3)]).astype(np.float32)
        field = field.take(below, axis) * (1 - share) + field.take(below + 1, axis) * share
    return field


def _around(seed, radius=2):
    return tuple(slice(max(c - radius, 0), c + radius + 1) for c in seed)
