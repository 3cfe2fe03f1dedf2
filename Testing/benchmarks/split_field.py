"""Skeletons by the split field of the CPU and by the whole convolution: seconds, errors, the same?

    python Testing/benchmarks/split_field.py FILE... [--strength 6] [--runs 3]

The files are labelmaps. Both ways run in turn. The error is that of 2,000 forces at the targets of
the largest component, with charges two layers outside, and of the 1,000 weakest there.
"""

import argparse
import sys
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PLACES = ("FuzzyVesselCore", "FuzzyConnectedGPU", "PotentialSkeleton", "CommandLine")
sys.path[:0] = [str(ROOT / name) for name in PLACES]

from fuzzy_vessel.benchmark.volumes import read_voxels  # noqa: E402
from FuzzyVesselCoreLib.progress import Progress  # noqa: E402
from FuzzyVesselCoreLib.voxels.components.labels import label_components  # noqa: E402
from PotentialSkeletonLib import skeletonize  # noqa: E402
from PotentialSkeletonLib.field.methods import (  # noqa: E402
    direct_serial,
    fft_convolution,
    split_convolution,
)
from PotentialSkeletonLib.field.solid import solids  # noqa: E402

SAMPLE, WEAKEST, CHARGE_DISTANCE = 2000, 1000, 2
METHODS = {"split": "auto", "whole": "fft"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--strength", type=int, default=6)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    for file in options.files:
        print(file.name)
        voxels, spacing = read_voxels(file)
        show_skeletons(voxels > 0, spacing, options)
        show_errors(voxels > 0, options.strength)


def show_skeletons(mask, spacing, options):
    found, spent = {}, {name: [] for name in METHODS}
    for _ in range(1 + options.runs):  # the first one loads or compiles
        for name, method in METHODS.items():
            begin, cpu = perf_counter(), process_time()
            skeleton = skeletonize(
                mask, spacing, strength=options.strength, method=method, device="cpu"
            )
            seconds = perf_counter() - begin, process_time() - cpu
            spent[name].append((*seconds, skeleton.report["seconds"]["field"]))
            found[name] = skeleton
    for name, runs in spent.items():
        whole, cpu, field = (median(column) for column in zip(*runs[1:]))
        print(f"  {name}: {whole:.3f} s, {cpu:.2f} CPU s, field {field:.3f} s")
    one, other = found.values()
    same = np.array_equal(one.voxels, other.voxels) and len(one.branches) == len(other.branches)
    print(f"  {len(one.branches)} branches, the same voxels: {same}")
    if same:
        pairs = zip(one.branches, other.branches, strict=True)
        moved = max(abs(a.points - b.points).max() for a, b in pairs)
        print(f"  largest difference of a point: {moved:.1e} voxels")


def show_errors(mask, strength):
    every = [solid for _, solid in solids(label_components(mask)[0], CHARGE_DISTANCE)]
    solid = max(every, key=lambda each: each.charge_count)
    targets = solid.positions(solid.targets)
    vectors = {name: np.zeros((*solid.classes.shape, 3)) for name in METHODS}
    for name, method in (("split", split_convolution), ("whole", fft_convolution)):
        method.sum_forces(solid, strength, vectors[name], Progress())
    sizes = np.linalg.norm(vectors["whole"][tuple(targets.T)], axis=1)
    count = min(SAMPLE, len(targets))
    groups = {
        "some": np.random.default_rng(0).choice(targets, count, replace=False),
        "the weakest": targets[np.argsort(sizes)[:WEAKEST]],
    }
    for group, chosen in groups.items():
        exact = direct_serial.sum_at(chosen, solid.charges, strength, Progress())
        for name in METHODS:
            error = np.linalg.norm(vectors[name][tuple(chosen.T)] - exact, axis=1)
            worst = (error / np.linalg.norm(exact, axis=1)).max()
            print(f"  largest relative error of {group}, {name}: {worst:.1e}")
    taken = split_convolution.is_exact(solid, strength, vectors["split"], Progress())
    print(f"  exact enough to be taken: {taken}")


if __name__ == "__main__":
    main()
