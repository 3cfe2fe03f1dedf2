"""The voxels of the phantom: tissues, tubes and noise, drawn slab by slab."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .anatomy import Grid, Tissues, tubes
from .vessels import FAR, Branch, segments, signed_distance

SOFTNESS = 1.4  # width of a border in voxels: the voxel's own box and the scanner's blur
SLAB_VOXELS = 2_000_000
PORTAL, HEPATIC = "portal vein", "hepatic veins"
VESSEL_HU = {PORTAL: 178, HEPATIC: 190}


def draw(
    grid: Grid, seed: int, noise: float, centrelines: list[Branch], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw the CT (int16), the vessels' mask and the liver's (uint8)."""
    shape = grid.shape
    volume = np.empty(shape, np.int16)
    mask, liver = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
    image, grain = _Image(grid, centrelines, rng), _Noise(shape, seed)
    thick = max(1, SLAB_VOXELS // (shape[1] * shape[2]))
    for first in range(0, shape[0], thick):
        last = min(first + thick, shape[0])
        hu, mask[first:last], liver[first:last] = image.slab(first, last)
        for k in range(first, last):
            hu[k - first] += np.float32(noise) * grain.slice(k)
        volume[first:last] = np.clip(np.rint(hu), -1024, 3071)
    return volume, mask, liver


class _Image:
    """The noise-free image, slab by slab."""

    def __init__(self, grid: Grid, centrelines: list[Branch], rng: np.random.Generator) -> None:
        self.grid = grid
        self.tubes = {
            name: (hu, segments(branches, grid.shape, grid.spacing))
            for name, hu, branches in [
                *tubes(grid),
                *((n, VESSEL_HU[n], [b for b in centrelines if b.tree == n]) for n in VESSEL_HU),
            ]
        }
        self.tissue = Tissues(grid, rng)

    def slab(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """HU (float32), vessels and liver (uint8) of the slices first..last-1."""
        hu, liver = self.tissue.slab(first, last, self._blend)
        mask = np.zeros(hu.shape, np.uint8)
        for name, (value, segments_of) in self.tubes.items():
            distance = signed_distance(segments_of, self.grid.shape, self.grid.spacing, first, last)
            near = np.flatnonzero(distance.reshape(-1) < FAR)
            at = distance.reshape(-1)[near]
            flat = hu.reshape(-1)
            flat[near] = self._blend(flat[near], at, value)
            if name in VESSEL_HU:
                mask.reshape(-1)[near[at <= 0]] = 1
        hu += self.tissue.unevenness(first, last) * (hu > -300)
        return hu, mask, liver

    @staticmethod
    def _blend(hu: np.ndarray, distance: np.ndarray, value: Any) -> np.ndarray:
        """Partial volume: a border's share of the voxel falls linearly with the distance."""
        share = np.clip(np.float32(0.5) - distance * np.float32(1 / SOFTNESS), 0, 1)
        return hu + share * (np.float32(value) - hu)


class _Noise:
    """Unit-variance grain of a CT: blurred, without the coarsest part, coupled across slices."""

    FINE = (1 / 4, 2 / 4, 1 / 4)
    COARSE = (1 / 27, 3 / 27, 6 / 27, 7 / 27, 6 / 27, 3 / 27, 1 / 27)
    ACROSS = (1, 3, 1)

    def __init__(self, shape: tuple[int, ...], seed: int) -> None:
        self.plane, self.seed = shape[1:], seed
        self.made: dict[int, np.ndarray] = {}
        point = np.pad(self.FINE, 2)
        kernel = np.outer(point, point) - 0.5 * np.outer(self.COARSE, self.COARSE)
        energy = (kernel * kernel).sum() * sum(w * w for w in self.ACROSS)
        self.scale = np.float32(1 / np.sqrt(energy))

    def slice(self, k: int) -> np.ndarray:
        """The noise of slice k."""
        across = sum(np.float32(w) * self._grain(k + n) for n, w in zip((-1, 0, 1), self.ACROSS))
        return np.asarray(across * self.scale)

    def _grain(self, k: int) -> np.ndarray:
        if k not in self.made:
            self.made = {n: g for n, g in self.made.items() if n >= k - 2}
            generator = np.random.Generator(np.random.PCG64([self.seed, 2, k + 1]))
            size = [n + 6 for n in self.plane]
            white = generator.standard_normal(size, np.float32)
            fine = _convolved(white, self.FINE)[2:-2, 2:-2]
            coarse = _convolved(white, self.COARSE)
            self.made[k] = fine - np.float32(0.5) * coarse
        return self.made[k]


def _convolved(image: np.ndarray, taps: Sequence[Any]) -> np.ndarray:
    """Separable convolution, without the border that lacks neighbours."""
    n = len(taps)
    taps = [np.float32(t) for t in taps]
    rows = np.asarray(sum(t * image[i : image.shape[0] - n + 1 + i] for i, t in enumerate(taps)))
    return np.asarray(sum(t * rows[:, i : rows.shape[1] - n + 1 + i] for i, t in enumerate(taps)))
