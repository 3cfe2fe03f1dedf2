"""The volumes that are timed: a vessel tree in noise, hard cases, tubes, phantoms, scans."""

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage

from FuzzyConnectedGPULib import GaussianAffinity, estimate_affinity
from FuzzyVesselCoreLib.phantom.liver import liver_phantom

from .frame import Setting

TISSUE, VESSEL, WALL = 100, 220, 3000
SIGMA, GRADIENT_SIGMA = 30.0, 15.0
SCAN = "ircadb01_01"
SLICE_SPACING = (5.0, 1.0, 1.0)  # of the microscopy stacks vnn_*; their true spacing is unknown


@dataclass(frozen=True)
class Case:
    """A volume (K, J, I), its seeds (n, 3), affinity, spacing, and what is known of its vessels."""

    name: str
    volume: np.ndarray
    seeds: np.ndarray
    affinity: Any = None
    spacing: tuple[float, ...] = (1.0, 1.0, 1.0)
    mask: np.ndarray | None = None
    vessels: dict[str, np.ndarray] | None = None

    @property
    def size(self) -> str:
        """I x J x K."""
        return "x".join(map(str, self.volume.shape[::-1]))


def vessel_tree(shape: tuple[int, ...], number: int = 0) -> Case:
    """A tree of tubes that thin out, in uneven and noisy tissue, int16; three seeds in it."""
    rng = np.random.default_rng(number)
    points = _tree_points(np.array(shape), rng)
    volume = np.zeros(shape, np.float32)
    centres, radii = np.rint(points[:, :3]).astype(int), np.rint(points[:, 3]).astype(int)
    for radius in np.unique(radii):
        for offset in np.ndindex(*(3 * (2 * radius + 1,))):
            offset = np.array(offset) - radius
            if offset @ offset <= radius * radius:
                at = np.clip(centres[radii == radius] + offset, 0, np.array(shape) - 1)
                volume[tuple(at.T)] = VESSEL - TISSUE
    volume = ndimage.gaussian_filter(volume, 1.0) + TISSUE
    noise = ndimage.gaussian_filter(rng.standard_normal(shape, np.float32), 0.7)
    volume += noise * np.float32(12 / noise[::7].std())
    del noise
    coarse = rng.standard_normal([n // 12 + 3 for n in shape]).astype(np.float32)
    uneven = ndimage.zoom(ndimage.gaussian_filter(coarse, 0.7), 12, order=1)
    volume += (20 / uneven.std()) * uneven[tuple(slice(n) for n in shape)]
    volume = np.clip(np.rint(volume), -1024, 3071).astype(np.int16)
    seeds = centres[[0, len(centres) // 3, 2 * len(centres) // 3]]
    mean = float(np.mean([volume[tuple(seed)] for seed in seeds]))
    return Case("vessel tree", volume, seeds, GaussianAffinity(mean, SIGMA, GRADIENT_SIGMA))


def _tree_points(shape: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Points (n, 4), K, J, I and radius, along branches that wander and give off thinner ones."""
    least = np.minimum(4.0, shape / 4)
    most = shape - 1.0 - least
    points: list[tuple] = []
    waiting = [(shape / 2, rng.normal(size=3), 1.2 * shape.max(), 6.0)]
    budget = 40 * shape.max() + np.prod(shape) // 500
    while waiting and len(points) < budget:
        place, heading, length, radius = waiting.pop(0)
        for step in range(steps := int(2 * length)):
            heading = heading + 0.12 * rng.normal(size=3)
            heading /= np.linalg.norm(heading)
            place = place + 0.5 * heading
            heading = np.where((place < least) | (place > most), -heading, heading)
            place = np.clip(place, least, most)
            points.append((*place, radius * (1 - 0.5 * step / steps)))
            if rng.random() < 0.006 and length > 60 and radius > 1:
                waiting.append((place, heading + rng.normal(size=3), 0.55 * length, 0.7 * radius))
    return np.array(points)


def serpentine(side: int) -> Case:
    """A corridor one voxel wide through a whole cube: one path, a quarter of its voxels long."""
    volume = np.full((side,) * 3, WALL, np.uint16)
    rows, at_end, upwards = list(range(0, side, 2)), False, True
    for k in range(0, side, 2):
        across = rows if upwards else rows[::-1]
        for j, following in zip(across, [*across[1:], None], strict=True):
            volume[k, j] = TISSUE
            at_end = not at_end
            if following is not None:
                volume[k, (j + following) // 2, -1 if at_end else 0] = TISSUE
            elif k + 2 < side:
                volume[k + 1, j, -1 if at_end else 0] = TISSUE
        upwards = not upwards
    wave = np.random.default_rng(0).integers(-9, 10, volume.shape)
    volume = np.where(volume == TISSUE, TISSUE + wave, WALL).astype(np.uint16)
    affinity = GaussianAffinity(TISSUE, SIGMA, GRADIENT_SIGMA)
    return Case("serpentine", volume, np.zeros((1, 3), int), affinity)


def white_noise(side: int) -> Case:
    """Voxels without any correlation, int16; a seed in the middle."""
    volume = np.random.default_rng(0).normal(TISSUE, SIGMA, (side,) * 3).astype(np.int16)
    affinity = GaussianAffinity(TISSUE, SIGMA, GRADIENT_SIGMA)
    return Case("white noise", volume, np.array([[side // 2] * 3]), affinity)


@lru_cache(maxsize=1)  # seconds to make
def liver(shape: tuple[int, ...], number: int = 0, noise: float = 14.0) -> Case:
    """The liver phantom, with its vessels by name inside the liver."""
    made = liver_phantom(shape, number, noise=noise)
    affinity = estimate_affinity(made.volume, made.seeds)
    mask = ndimage.binary_dilation(made.liver > 0, iterations=2)
    return Case(
        "liver phantom", made.volume, made.seeds, affinity, made.spacing, mask, known_vessels(made)
    )


def known_vessels(made: Any) -> dict[str, np.ndarray]:
    """Portal and hepatic voxels of a phantom: each is of the tree whose wall is farther away."""
    from scipy.spatial import cKDTree

    from FuzzyVesselCoreLib.phantom.liver import HEPATIC, PORTAL

    voxels, depths = np.argwhere(made.mask > 0), []
    for tree in (PORTAL, HEPATIC):
        branches = [branch for branch in made.centrelines if branch.tree == tree]
        points = np.concatenate([branch.points for branch in branches]) * made.spacing
        radii = np.concatenate([branch.radius for branch in branches])
        distance, nearest = cKDTree(points).query(voxels * made.spacing)
        depths.append(radii[nearest] - distance)
    found = {name: np.zeros(made.mask.shape, bool) for name in ("portal", "hepatic")}
    for number, tree_mask in enumerate(found.values()):
        tree_mask[tuple(voxels[np.argmax(depths, axis=0) == number].T)] = True
    return found


def read(path: Path) -> tuple[np.ndarray, tuple[float, ...]]:
    """Voxels (K, J, I) and spacing of an image file."""
    import SimpleITK as sitk

    image = sitk.ReadImage(str(path))
    return sitk.GetArrayFromImage(image), image.GetSpacing()[::-1]


def scan(setting: Setting) -> Case:
    """The liver CT with its seeds; the phantom without a data folder."""
    if setting.data is None:
        return liver(setting.size(129, 512, 512))
    volume, spacing = read(setting.data / f"{SCAN}_ct.nrrd")
    listed = json.loads((setting.data / "seeds.json").read_text())[f"{SCAN}_ct.nrrd"]["seeds"]
    seeds = np.array([s["ijk"][::-1] for s in listed if "BACKGROUND" not in s["label"]])
    return Case("liver CT", volume, seeds, estimate_affinity(volume, seeds), spacing)


def vein(setting: Setting) -> tuple[str, np.ndarray, tuple[float, ...]]:
    """Name, mask and spacing of the portal vein of the CT, or of the phantom's vessels."""
    if setting.data is None:
        case = liver(setting.size(129, 512, 512))
        return "vessels of the phantom", case.vessels["portal"], case.spacing
    labels, spacing = read(setting.data / f"{SCAN}_portalvein.nrrd")
    return "portal vein of the CT", labels > 0, spacing


def wavy_tube(shape: tuple[int, ...], fill: float = 0.36) -> np.ndarray:
    """A tube along K that sways and swells, in most of its box."""
    k, j, i = np.indices(shape, np.float32, sparse=True)
    turn = 2 * np.pi * k / shape[0]
    radius = fill * shape[1] * (0.75 + 0.2 * np.sin(3 * turn))
    away_i = i - shape[2] * (0.5 + 0.1 * np.sin(turn)) - 0.17
    away_j = j - shape[1] * (0.5 + 0.1 * np.cos(turn)) - 0.31
    ends = max(shape[0] // 100, 1)
    return (away_i**2 + away_j**2 < radius**2) & (k >= ends) & (k < shape[0] - ends)


def inside_liver(case: Case) -> Case:
    """The case cut to the box of its mask and two voxels more; vessels count inside the mask."""
    box = ndimage.find_objects(case.mask.astype(np.uint8))[0]
    box = tuple(slice(max(s.start - 2, 0), s.stop + 2) for s in box)
    cut = [np.ascontiguousarray(array[box]) for array in (case.volume, case.mask)]
    taken, vessels = np.zeros(cut[1].shape, bool), {}
    for name, each in case.vessels.items():
        vessels[name] = each[box] & cut[1] & ~taken
        taken |= each[box]
    return Case(case.name, cut[0], case.seeds, None, tuple(case.spacing), cut[1], vessels)


# Phantoms: shape (of natural spacing, 1.3 to 2.3 mm), number, noise in HU. The rules of the clicks
# were chosen on numbers up to 20, and not on those from 31 on.
PHANTOMS = (
    ((96, 160, 160), 1, 14), ((96, 160, 160), 2, 22), ((128, 192, 192), 3, 27),
    ((128, 192, 192), 4, 18), ((96, 192, 192), 5, 35), ((160, 224, 224), 6, 22),
    ((96, 192, 192), 13, 35), ((128, 192, 192), 16, 35), ((112, 176, 176), 18, 30),
    ((96, 160, 160), 31, 20), ((128, 192, 192), 32, 26), ((96, 192, 192), 33, 30),
    ((128, 160, 160), 34, 16), ((96, 160, 160), 35, 35), ((128, 192, 192), 36, 22),
    ((160, 192, 192), 37, 30), ((112, 176, 176), 38, 26),
)  # fmt: skip


def phantom_cases(setting: Setting) -> list[Case]:
    """Liver phantoms of other vessels, noise and spacing, inside the liver."""
    made = [liver(setting.size(*shape), number, noise) for shape, number, noise in PHANTOMS]
    return [
        replace(inside_liver(case), name=f"phantom {number}, noise {noise}")
        for case, (_shape, number, noise) in zip(made, PHANTOMS, strict=True)
    ]


def click_cases(setting: Setting) -> list[Case]:
    """Cases with known vessels: the scans of the data folder, or the phantom."""
    if setting.data is None:
        return [inside_liver(liver(setting.size(96, 160, 160)))]
    volume, spacing = read(setting.data / f"{SCAN}_ct.nrrd")
    masks = {n: read(setting.data / f"{SCAN}_{n}.nrrd")[0] > 0
             for n in ("liver", "portalvein", "venoussystem")}  # fmt: skip
    mask = ndimage.binary_dilation(masks["liver"], iterations=2)
    vessels = {"portal": masks["portalvein"], "hepatic": masks["venoussystem"]}
    found = [inside_liver(Case(SCAN, volume, np.zeros((0, 3)), None, spacing, mask, vessels))]
    for path in sorted((setting.data / "vessels").glob("*.npz")):
        with np.load(path) as arrays:
            image, truth = arrays["image"], arrays["truth"] > 0
        spacing = SLICE_SPACING if path.stem.startswith("vnn") else (1.0, 1.0, 1.0)
        found.append(Case(path.stem, image, np.zeros((0, 3)), None, spacing, None, {"all": truth}))
    return found
