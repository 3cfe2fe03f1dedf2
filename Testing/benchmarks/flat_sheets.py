"""Sheets one voxel thick: how many skeletons differ between the CPU and CUDA's kernels.

``cd Testing && python -m benchmarks.flat_sheets``: on an emulated device, or on a real one with
``--device cuda``. The sheets fill their boxes: mirror images of themselves, where rounding shows.
"""

import argparse
from contextlib import nullcontext

import numpy as np

from PotentialSkeletonLib import skeletonize
from PotentialSkeletonLib.component import MIN_FIELD_VOXELS
from trust.played_card import PlayedCard, installed

SIDES = range(2, 20)


def differences(shape: tuple[int, ...], is_real: bool) -> tuple[bool, bool]:
    """Whether the voxels, and whether the numbers of critical points, differ."""
    mask = np.ones(shape, bool)
    with nullcontext() if is_real else installed(PlayedCard()):
        on_card = skeletonize(mask, device="cuda")
    on_cpu = skeletonize(mask, device="cpu")
    voxels = not np.array_equal(on_card.voxels, on_cpu.voxels)
    return voxels, len(on_card.critical_points) != len(on_cpu.critical_points)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=["emulated", "cuda"], default="emulated")
    is_real = parser.parse_args().device == "cuda"
    pairs = [(a, b) for a in SIDES for b in SIDES if a <= b and a * b >= MIN_FIELD_VOXELS]
    for axis in range(3):
        found = [differences(tuple(np.insert(pair, axis, 1)), is_real) for pair in pairs]
        voxels, points = np.sum(found, axis=0)
        print(f"across axis {axis}: {len(pairs)} sheets, {voxels} with other voxels, "
              f"{points} with other critical points")  # fmt: skip


if __name__ == "__main__":
    main()
