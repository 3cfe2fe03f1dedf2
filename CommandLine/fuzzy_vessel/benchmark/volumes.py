"""The volumes that are timed: vessel trees, a serpentine, noise, tubes, and the real scan."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyConnectedGPULib import GaussianAffinity, estimate_affinity
from FuzzyVesselCoreLib.errors import InputError

from ..reading.formats.nrrd import read_voxels
from .vessel_tree import GRADIENT_SIGMA, SIGMA, TISSUE, WALL, Case, described, vessel_tree

__all__ = [
    "TISSUE",
    "WALL",
    "Case",
    "described",
    "liver",
    "scan",
    "serpentine",
    "vessel_tree",
    "vessels",
    "wavy_tube",
    "white_noise",
]

# Of the folder that --data names: a CT with seeds in seeds.json, and a mask of its vessels.
SCAN, SCAN_VESSELS = "ircadb01_01_ct.nrrd", "ircadb01_01_portalvein.nrrd"


def serpentine(side: int) -> Case:
    """A corridor one voxel wide that winds through a whole cube, uint16; a seed at its beginning.

    Every second row and every second plane is a part of it, so the one path to its end is as long
    as a quarter of the cube has voxels.
    """
    volume = np.full((side, side, side), WALL, np.uint16)
    rng = np.random.default_rng(0)
    steps, forwards, upwards = [], True, True
    rows = list(range(0, side, 2))
    for k in range(0, side, 2):
        across = rows if upwards else rows[::-1]
        for n, j in enumerate(across):
            along = np.arange(side) if forwards else np.arange(side)[::-1]
            steps.append(np.stack([np.full(side, k), np.full(side, j), along], axis=1))
            last = across[n + 1] if n + 1 < len(across) else None
            if last is not None:
                steps.append(np.array([[k, (j + last) // 2, along[-1]]]))
            elif k + 2 < side:
                steps.append(np.array([[k + 1, j, along[-1]]]))
            forwards = not forwards
        upwards = not upwards
    path = np.concatenate(steps)
    volume[tuple(path.T)] = TISSUE + rng.integers(-9, 10, len(path))
    affinity = GaussianAffinity(TISSUE, SIGMA, GRADIENT_SIGMA)
    return Case("serpentine one voxel wide", volume, path[:1], affinity)


def white_noise(side: int) -> Case:
    """Voxels without any correlation, int16; a seed in the middle."""
    rng = np.random.default_rng(0)
    volume = rng.normal(TISSUE, SIGMA, (side,) * 3).astype(np.int16)
    affinity = GaussianAffinity(TISSUE, SIGMA, GRADIENT_SIGMA)
    return Case("white noise", volume, np.array([[side // 2] * 3]), affinity)


@lru_cache(maxsize=1)  # seconds to make, and often asked for several times in turn
def liver(shape: tuple[int, int, int], number: int = 0) -> tuple[Case, Any]:
    """The liver phantom of the project, with its mask of vessels.

    Returns
    -------
    Case, Phantom
    """
    from FuzzyVesselCoreLib.phantom.liver import liver_phantom

    phantom = liver_phantom(shape, number)
    affinity = estimate_affinity(phantom.volume, phantom.seeds)
    return Case("liver phantom", phantom.volume, phantom.seeds, affinity), phantom


def scan(folder: Path | None) -> Case | None:
    """The real CT of a liver with seeds in its vessels, or None without a folder."""
    if folder is None:
        return None
    try:
        volume, _ = read_voxels(folder / SCAN)
        listed = json.loads((folder / "seeds.json").read_text(encoding="utf-8"))[SCAN]["seeds"]
    except (OSError, KeyError, ValueError) as error:
        raise InputError(f"{folder / SCAN} or its seeds.json cannot be read: {error}") from error
    seeds = [seed["ijk"][::-1] for seed in listed if "BACKGROUND" not in seed["label"]]
    return Case("liver CT", volume, np.array(seeds), estimate_affinity(volume, seeds))


def vessels(
    folder: Path | None, shape: tuple[int, int, int]
) -> tuple[str, np.ndarray, tuple[float, float, float]]:
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
        labels, spacing = read_voxels(folder / SCAN_VESSELS)
    except (OSError, KeyError, ValueError) as error:
        raise InputError(f"{folder / SCAN_VESSELS} cannot be read: {error}") from error
    return "portal vein of the CT", labels > 0, spacing


def wavy_tube(shape: tuple[int, int, int], fill: float = 0.36) -> np.ndarray:
    """A tube along K that sways and swells; of no symmetry, and in most of its box."""
    k, j, i = np.indices(shape, np.float32, sparse=True)
    turn = 2 * np.pi * k / shape[0]
    radius = fill * shape[1] * (0.75 + 0.2 * np.sin(3 * turn))
    away_i = i - shape[2] * (0.5 + 0.1 * np.sin(turn)) - 0.17
    away_j = j - shape[1] * (0.5 + 0.1 * np.cos(turn)) - 0.31
    ends = max(shape[0] // 100, 1)
    return (away_i**2 + away_j**2 < radius**2) & (k >= ends) & (k < shape[0] - ends)
