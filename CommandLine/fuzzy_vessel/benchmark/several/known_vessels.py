"""Volumes in which two vessels that touch are known: the liver phantom, and the liver CT."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage
from scipy.spatial import cKDTree

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.phantom.image import HEPATIC, PORTAL
from FuzzyVesselCoreLib.phantom.liver import liver_phantom

from ...reading.formats.nrrd import read_voxels
from ..clicks.cases import LIVER_MARGIN, PHANTOM
from ..clicks.person import deepest_voxel

TREES = {"portal": PORTAL, "hepatic": HEPATIC}
SCAN, SCAN_VESSELS = "ircadb01_01", {"portal": "portalvein", "hepatic": "venoussystem"}


@dataclass(frozen=True)
class KnownVessels:
    """A volume, its vessels by name, the liver as mask, and the spacing; arrays (K, J, I)."""

    name: str
    volume: np.ndarray
    vessels: dict[str, np.ndarray]
    mask: np.ndarray
    spacing: tuple[float, ...]


def volumes(folder: Path | None, shape: tuple[int, int, int]) -> Iterator[KnownVessels]:
    """The phantom, and the scan where the folder has it."""
    phantom = liver_phantom(shape)
    vessels = known_vessels(phantom)
    yield _inside(PHANTOM, phantom.volume, vessels, phantom.liver > 0, phantom.spacing)
    if folder is None or not (folder / f"{SCAN}_ct.nrrd").is_file():
        return
    try:
        volume, spacing = read_voxels(folder / f"{SCAN}_ct.nrrd")
        liver = read_voxels(folder / f"{SCAN}_liver.nrrd")[0] > 0
        vessels = {
            name: read_voxels(folder / f"{SCAN}_{part}.nrrd")[0] > 0
            for name, part in SCAN_VESSELS.items()
        }
    except (OSError, KeyError, ValueError) as error:
        raise InputError(f"{folder / SCAN}_*.nrrd cannot be read: {error}") from error
    yield _inside(SCAN, volume, vessels, liver, spacing)


def known_vessels(phantom: Any) -> dict[str, np.ndarray]:
    """The two trees of a phantom: each voxel belongs to the one whose wall is farther away."""
    voxels = np.argwhere(phantom.mask > 0)
    depths = []
    for tree in TREES.values():
        branches = [branch for branch in phantom.centrelines if branch.tree == tree]
        points = np.concatenate([branch.points for branch in branches])
        radii = np.concatenate([branch.radius for branch in branches])
        distance, nearest = cKDTree(points * phantom.spacing).query(voxels * phantom.spacing)
        depths.append(radii[nearest] - distance)
    deepest = np.argmax(depths, axis=0)
    found = {}
    for number, name in enumerate(TREES):
        found[name] = np.zeros(phantom.mask.shape, bool)
        found[name][tuple(voxels[deepest == number].T)] = True
    return found


def clicks_inside(mask: np.ndarray, count: int, spacing: tuple[float, ...]) -> list[tuple]:
    """Deepest voxels of a vessel, each at least a part of it away from those before."""
    rest, found = mask.copy(), []
    axes = np.ogrid[tuple(slice(0, n) for n in mask.shape)]
    for _ in range(count):
        voxel, _size = deepest_voxel(rest, spacing)
        if voxel is None:
            break
        found.append(voxel)
        square = sum(((axis - at) * s) ** 2 for axis, at, s in zip(axes, voxel, spacing))
        rest &= square > (0.08 * max(n * s for n, s in zip(mask.shape, spacing))) ** 2
    return found


def _inside(
    name: str,
    volume: np.ndarray,
    vessels: dict[str, np.ndarray],
    liver: np.ndarray,
    spacing: tuple[float, ...],
) -> KnownVessels:
    """Cut to the dilated liver; a voxel of two vessels belongs to the first."""
    mask = ndimage.binary_dilation(liver, iterations=LIVER_MARGIN)
    box = ndimage.find_objects(mask.astype(np.uint8))[0]
    box = tuple(slice(max(s.start - LIVER_MARGIN, 0), s.stop + LIVER_MARGIN) for s in box)
    taken, inside = np.zeros(mask.shape, bool), {}
    for vessel, truth in vessels.items():
        inside[vessel] = np.ascontiguousarray((truth & mask & ~taken)[box])
        taken |= truth
    volume, mask = (np.ascontiguousarray(array[box]) for array in (volume, mask))
    return KnownVessels(name, volume, inside, mask, tuple(spacing))
