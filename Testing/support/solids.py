"""Solids with known axes, for the skeleton's tests; positions in voxels K, J, I."""

import gzip

import numpy as np
from hypothesis import strategies
from scipy import ndimage


def tube(axis, radius, shape):
    """Voxels within `radius` (a number, or one for each point) of a densely sampled axis (n, 3)."""
    mask = np.zeros(shape, bool)
    for point, size in zip(axis, np.broadcast_to(radius, len(axis))):
        low = np.maximum(np.floor(point - size).astype(int), 0)
        high = np.minimum(np.ceil(point + size).astype(int) + 1, shape)
        box = tuple(slice(a, b) for a, b in zip(low, high))
        away = sum((np.arange(a, b) - x).reshape(np.roll([-1, 1, 1], n)) ** 2
                   for n, (a, b, x) in enumerate(zip(low, high, point)))  # fmt: skip
        mask[box] |= away <= size**2
    return mask


def line(start, end, count=200):
    share = np.linspace(0, 1, count)[:, None]
    return np.asarray(start, float) * (1 - share) + np.asarray(end, float) * share


def tapered_tube():
    """Mask and axis of a straight tube that tapers from radius 7 to 2."""
    axis = line((9, 16.3, 15.6), (80, 16.3, 15.6))
    return tube(axis, np.linspace(7, 2, 200), (90, 32, 32)), axis


def tapered_y():
    """Mask and axes (three, from the fork outwards) of a fork of tapering tubes."""
    fork = (45, 30.3, 30.2)
    limbs = [((5, 30, 30), 5.5, 7.0), ((85, 12, 18), 5.0, 2.5), ((88, 47, 50), 4.5, 2.0)]
    mask, axes = np.zeros((96, 60, 64), bool), []
    for end, first, last in limbs:
        axes.append(line(fork, end))
        mask |= tube(axes[-1], np.linspace(first, last, 200), mask.shape)
    return mask, axes


def helix():
    turn = np.linspace(0, 4 * np.pi, 600)
    axis = np.stack([8 + 4.5 * turn, 32 + 20 * np.cos(turn), 32 + 20 * np.sin(turn)], axis=1)
    return tube(axis, 4, (74, 64, 64)), axis


def ring():
    """A closed tube that also sways along K."""
    turn = np.linspace(0, 2 * np.pi, 400)
    axis = np.stack([12 + 3 * np.sin(2 * turn), 32 + 20 * np.cos(turn), 32 + 20 * np.sin(turn)], 1)
    return tube(axis, 5, (24, 64, 64)), axis


def trefoil():
    """A knotted closed tube."""
    turn = np.linspace(0, 2 * np.pi, 900)
    j = 45 + 10 * (np.sin(turn) + 2 * np.sin(2 * turn))
    i = 45 + 10 * (np.cos(turn) - 2 * np.cos(2 * turn))
    axis = np.stack([22 + 10 * np.sin(3 * turn), j, i], axis=1)
    return tube(axis, 4, (46, 90, 90)), axis


def plate():
    mask = np.zeros((12, 40, 60), bool)
    mask[3:9, 4:36, 4:56] = True
    return mask


def cube(side=24):
    return np.pad(np.ones((side, side, side), bool), 2)


def two_balls(apart):
    """Balls of radius 9 whose centres lie so many voxels apart; at 19 they touch in one face."""
    k, j, i = np.indices((24, 24, 25 + apart))
    flat = (k - 12) ** 2 + (j - 12) ** 2
    return (flat + (i - 12) ** 2 <= 81) | (flat + (i - 12 - apart) ** 2 <= 81)


def rough(mask, share, seed=0):
    """Flip this share of the voxels on both sides of the border."""
    block = np.ones((3, 3, 3), bool)
    border = ndimage.binary_dilation(mask, block) & ~ndimage.binary_erosion(mask, block)
    return mask ^ (border & (np.random.default_rng(seed).random(mask.shape) < share))


def read_nrrd(path):
    """Voxels of a gzipped 3D NRRD file of bytes as bool (K, J, I)."""
    header, _, data = path.read_bytes().partition(b"\n\n")
    fields = dict(line.split(": ", 1) for line in header.decode().splitlines() if ": " in line)
    assert fields["encoding"] in ("gzip", "gz")
    sizes = [int(size) for size in fields["sizes"].split()]
    return np.frombuffer(gzip.decompress(data), np.uint8).reshape(sizes[::-1]) > 0


def random_solid(rng, largest_side=18):
    """A solid of any topology, with a curved tube of changing radius and a rough border."""
    shape = rng.integers(6, largest_side + 1, 3)
    noise = ndimage.gaussian_filter(rng.random(shape), rng.uniform(0.5, 2))
    solid = noise >= np.quantile(noise, rng.uniform(0.5, 0.97))
    ends, bend = rng.uniform(0, 1, (2, 3)) * shape, rng.uniform(0, 1, 3) * shape
    axis = line(ends[0], bend) * (1 - line(0, 1)) + line(bend, ends[1]) * line(0, 1)
    solid |= tube(axis, np.linspace(*rng.uniform(0.8, 0.18 * min(shape), 2), 200), shape)
    return rough(solid, rng.uniform(0, 0.3), int(rng.integers(1 << 30)))


@strategies.composite
def random_solids(draw, largest=14):
    """Solids of any topology: smoothed or raw noise over some threshold, never empty."""
    shape = draw(strategies.tuples(*[strategies.integers(1, largest)] * 3))
    rng = np.random.default_rng(draw(strategies.integers(0, 10**6)))
    noise = rng.random(shape)
    blur = draw(strategies.sampled_from([0, 0, 0.6, 1.2]))
    if blur:
        noise = ndimage.gaussian_filter(noise, blur)
    share = draw(strategies.floats(0.02, 0.95))
    return noise >= np.quantile(noise, 1 - share)
