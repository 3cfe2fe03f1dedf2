"""The volumes that are timed: vessel trees, a serpentine, noise, tubes, and the real scan."""

import gzip
import json
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from FuzzyConnectedGPULib import GaussianAffinity, estimate_affinity
from FuzzyVesselCoreLib.errors import InputError

TISSUE, VESSEL, WALL = 100, 220, 3000
SIGMA, GRADIENT_SIGMA = 30.0, 15.0
# Of the folder that --data names: a CT with seeds in seeds.json, and a mask of its vessels.
SCAN, SCAN_VESSELS = "ircadb01_01_ct.nrrd", "ircadb01_01_portalvein.nrrd"
VOXEL_TYPES = {"short": "<i2", "int16": "<i2", "signed short": "<i2", "uint8": "u1", "uchar": "u1",
               "unsigned char": "u1"}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A volume (K, J, I), its seeds (n, 3) and the affinity."""

    name: str
    volume: np.ndarray
    seeds: np.ndarray
    affinity: GaussianAffinity


def described(case):
    """The case with its size, as people say it: I x J x K."""
    return f"{case.name}, {'x'.join(map(str, case.volume.shape[::-1]))} {case.volume.dtype}"


def vessel_tree(shape, number=0):
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


def serpentine(side):
    """A corridor one voxel wide that winds through a whole cube, uint16; a seed at its beginning.

    Every second row and every second plane is a part of it, so the one path to its end is as long
    as a quarter of the cube has voxels.
    """
    volume = np.full((side, side, side), WALL, np.uint16)
    rng = np.random.default_rng(0)
    path, forwards, upwards = [], True, True
    rows = list(range(0, side, 2))
    for k in range(0, side, 2):
        across = rows if upwards else rows[::-1]
        for n, j in enumerate(across):
            along = np.arange(side) if forwards else np.arange(side)[::-1]
            path.append(np.stack([np.full(side, k), np.full(side, j), along], axis=1))
            last = across[n + 1] if n + 1 < len(across) else None
            if last is not None:
                path.append(np.array([[k, (j + last) // 2, along[-1]]]))
            elif k + 2 < side:
                path.append(np.array([[k + 1, j, along[-1]]]))
            forwards = not forwards
        upwards = not upwards
    path = np.concatenate(path)
    volume[tuple(path.T)] = TISSUE + rng.integers(-9, 10, len(path))
    affinity = GaussianAffinity(TISSUE, SIGMA, GRADIENT_SIGMA)
    return Case("serpentine one voxel wide", volume, path[:1], affinity)


def white_noise(side):
    """Voxels without any correlation, int16; a seed in the middle."""
    rng = np.random.default_rng(0)
    volume = rng.normal(TISSUE, SIGMA, (side,) * 3).astype(np.int16)
    affinity = GaussianAffinity(TISSUE, SIGMA, GRADIENT_SIGMA)
    return Case("white noise", volume, np.array([[side // 2] * 3]), affinity)


@lru_cache(maxsize=1)  # seconds to make, and often asked for several times in turn
def liver(shape, number=0):
    """The liver phantom of the project, with its mask of vessels.

    Returns
    -------
    Case, Phantom
    """
    from FuzzyVesselCoreLib.phantom.liver import liver_phantom

    phantom = liver_phantom(shape, number)
    affinity = estimate_affinity(phantom.volume, phantom.seeds)
    return Case("liver phantom", phantom.volume, phantom.seeds, affinity), phantom


def scan(folder):
    """The real CT of a liver with seeds in its vessels, or None without a folder."""
    if folder is None:
        return None
    try:
        volume, _ = read_nrrd(folder / SCAN)
        listed = json.loads((folder / "seeds.json").read_text(encoding="utf-8"))[SCAN]["seeds"]
    except (OSError, KeyError, ValueError) as error:
        raise InputError(f"{folder / SCAN} or its seeds.json cannot be read: {error}") from error
    seeds = [seed["ijk"][::-1] for seed in listed if "BACKGROUND" not in seed["label"]]
    return Case("liver CT", volume, np.array(seeds), estimate_affinity(volume, seeds))


def vessels(folder, shape):
    """A mask of the vessels of a liver: of the real CT, or of the phantom without a folder.

    Returns
    -------
    name : str
    mask : ndarray of bool, shape (K, J, I)
    spacing : tuple of 3 float
        K, J, I in mm.
    """
    if folder is None:
        _, phantom = liver(shape)
        return "phantom", phantom.mask > 0, phantom.spacing
    try:
        labels, spacing = read_nrrd(folder / SCAN_VESSELS)
    except (OSError, KeyError, ValueError) as error:
        raise InputError(f"{folder / SCAN_VESSELS} cannot be read: {error}") from error
    return "portal vein of the CT", labels > 0, spacing


def read_nrrd(path):
    """Voxels (K, J, I) and spacing (K, J, I) of a gzip-compressed NRRD file of small integers."""
    header, _, data = path.read_bytes().partition(b"\n\n")
    fields = dict(
        line.split(": ", 1) for line in header.decode("ascii").splitlines() if ": " in line
    )
    if fields["type"] not in VOXEL_TYPES or fields["encoding"] != "gzip":
        raise ValueError("only gzip-compressed int16 and uint8 NRRD files are read here")
    sizes = [int(size) for size in fields["sizes"].split()]
    steps = [part.strip("()").split(",") for part in fields["space directions"].split()]
    spacing = tuple(float(np.linalg.norm(np.array(step, float))) for step in steps[::-1])
    kind = VOXEL_TYPES[fields["type"]]
    return np.frombuffer(gzip.decompress(data), kind).reshape(sizes[::-1]), spacing


def wavy_tube(shape, fill=0.36):
    """A tube along K that sways and swells; of no symmetry, and in most of its box."""
    k, j, i = np.indices(shape, np.float32, sparse=True)
    turn = 2 * np.pi * k / shape[0]
    radius = fill * shape[1] * (0.75 + 0.2 * np.sin(3 * turn))
    away_i = i - shape[2] * (0.5 + 0.1 * np.sin(turn)) - 0.17
    away_j = j - shape[1] * (0.5 + 0.1 * np.cos(turn)) - 0.31
    ends = max(shape[0] // 100, 1)
    return (away_i**2 + away_j**2 < radius**2) & (k >= ends) & (k < shape[0] - ends)
