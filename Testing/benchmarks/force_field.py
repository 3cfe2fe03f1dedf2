"""The potential field's seconds and errors on the paper's five sizes, method by method.

    python Testing/benchmarks/force_field.py --device cuda [--quick] [--strengths 3-9] [--threads]

needs numpy, scipy and numba, and CuPy for CUDA; neither Slicer nor VTK. The object is a tube that
sways and fills most of its box. Errors are relative to the force, over 2,000 inner voxels drawn at
random and the 200 farthest from the charges, against a float64 direct sum in another program. Runs
that would take longer than --limit seconds are estimated from a part of their points ("~").
"""

import argparse
import sys
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / name) for name in ("FuzzyConnectedGPU", "PotentialSkeleton", "Testing")]

from FuzzyVesselCommon.cuda import choose_device  # noqa: E402
from FuzzyVesselCommon.errors import DeviceError  # noqa: E402
from PotentialSkeletonLib import force_field  # noqa: E402
from PotentialSkeletonLib.field_methods import (  # noqa: E402
    CPU_METHODS,
    CUDA_METHODS,
    direct_cuda,
    direct_serial,
)
from PotentialSkeletonLib.solids import label_components, solids  # noqa: E402
from solid_shapes import wavy_tube  # noqa: E402

SIDES, LENGTH = (16, 32, 64, 128, 256), 487
PAPER_SECONDS = {16: 3.1, 32: 24.8, 64: 213.6, 128: 1800.9, 256: 16212.2}  # serial, its table 2
DIRECT = ("direct-serial", "cuda-simple", "cuda-constant", "cuda-shared")
TRIAL_POINTS = 4096  # for the estimate of a direct method's speed on the CPU; on CUDA 64 times more


def main():
    options = read_options()
    device = choose_device(options.device)
    on_cuda = device != "cpu"
    print(f"device: {device.name if on_cuda else 'cpu'}")
    methods = [m for m in (CUDA_METHODS if on_cuda else CPU_METHODS) if m != "auto"]
    methods = ["direct-serial"] * on_cuda + methods + ["auto"]
    warm_up(methods, options)
    print(
        f"{'size':>11} {'inner':>9} {'charges':>8} {'m':>2} {'method':>14} {'seconds':>9} "
        f"{'sum only':>9} {'vs paper':>9} {'error max':>9} {'median':>8} {'MiB':>7} threads"
    )
    for side in SIDES[: 3 if options.quick else 5]:
        mask = wavy_tube((LENGTH, side, side))
        [(_, solid)] = solids(label_components(mask)[0], charge_distance=0)
        for strength in options.strengths:
            sample = Sample(solid, strength)
            for method in methods:
                show(side, mask, solid, strength, method, sample, options)
    if options.threads and on_cuda:
        sweep_threads(device)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--quick", action="store_true", help="three sizes; nothing over 2 seconds")
    parser.add_argument("--strengths", default="6", help="for example 6, 3-9 or 3,6,9")
    parser.add_argument(
        "--limit", type=float, default=60, help="seconds; longer runs are estimated"
    )
    parser.add_argument(
        "--threads", action="store_true", help="also all threads per block (the paper's figure 3)"
    )
    options = parser.parse_args()
    first, _, last = options.strengths.partition("-")
    if last:
        options.strengths = range(int(first), int(last) + 1)
    else:
        options.strengths = [int(part) for part in first.split(",")]
    if options.quick:
        options.limit = min(options.limit, 2)
    return options


def device_for(method, options):
    return "cpu" if method == "direct-serial" else options.device


def warm_up(methods, options):
    """Compile what is compiled at the first call."""
    mask = wavy_tube((60, 40, 44))
    for method in methods:
        for strength in options.strengths:
            force_field(mask, strength, method=method, device=device_for(method, options))


class Sample:
    """Some inner voxels and the forces there, by the serial program in float64."""

    def __init__(self, solid, strength):
        inner = np.flatnonzero(solid.classes.ravel()[solid.points] == 3)
        layers = 1
        while solid.free_layers(2 * layers).sum() >= 200:
            layers *= 2
        deepest = np.flatnonzero(solid.free_layers(layers))
        draw = np.random.default_rng(0).choice
        chosen = [draw(inner, min(inner.size, 2000), replace=False)]
        if layers > 1:
            chosen.append(draw(deepest, min(deepest.size, 200), replace=False))
        members = np.unique(np.concatenate(chosen))
        # The box of the solid begins where its voxels do; the volume's begin before.
        start = [axis.start for axis in solid.box]
        self.positions = solid.positions(members) + start
        self._forces = direct_serial.sum_at(
            self.positions, solid.charges + start, strength, lambda fraction: None
        )

    def errors(self, vectors):
        """Largest and median relative error."""
        found = vectors[tuple(self.positions.T)]
        error = np.linalg.norm(found - self._forces, axis=1)
        relative = error / np.linalg.norm(self._forces, axis=1)
        return relative.max(), np.median(relative)


def show(side, mask, solid, strength, method, sample, options):
    start = (
        f"{side:>3}x{side:>3}x{LENGTH} {solid.points.size:>9} {len(solid.charges):>8} {strength}"
    )
    estimate = estimated_seconds(solid, strength, method, options) if method in DIRECT else 0
    if estimate > options.limit:
        ratio = PAPER_SECONDS[side] / estimate
        print(f"{start:>33} {method:>14} {'~':>9} {estimate:>9.4g} {ratio:>8.0f}x", flush=True)
        return
    totals, sums = [], []
    while not totals or (len(totals) < 5 and sum(totals) < min(options.limit, 10)):
        began = perf_counter()
        field = force_field(mask, strength, method=method, device=device_for(method, options))
        totals.append(perf_counter() - began)
        sums.append(field.seconds["sum"])
    worst, middle = sample.errors(field.vectors)
    used = "" if method == field.method else f" used {field.method}"
    launch = f"{field.threads_per_block:>7} {field.occupancy:.0%}" if field.occupancy else ""
    print(
        f"{start:>33} {method:>14} {median(totals):>9.4g} {median(sums):>9.4g} "
        f"{PAPER_SECONDS[side] / median(sums):>8.0f}x {worst:>9.1e} {middle:>8.1e} "
        f"{field.peak_bytes / 2**20:>7.0f} {launch}{used}",
        flush=True,
    )


def estimated_seconds(solid, strength, method, options):
    """Seconds of a direct sum, from a trial with some of the points."""
    count = TRIAL_POINTS if method == "direct-serial" else 64 * TRIAL_POINTS
    positions = solid.positions(slice(0, count))
    task = (positions, solid.charges, strength, lambda fraction: None)
    if method == "direct-serial":
        seconds = timed(lambda: direct_serial.sum_at(*task))
    else:
        with choose_device(options.device) as gpu:
            seconds = timed(lambda: direct_cuda.sum_at(*task, gpu, method))
    return seconds * solid.points.size / len(positions)


def timed(function):
    began = perf_counter()
    function()
    return perf_counter() - began


def sweep_threads(device):
    """Occupancy and time for each number of threads per block (the paper's figure 3)."""
    mask = wavy_tube((LENGTH, 64, 64))
    [(_, solid)] = solids(label_components(mask)[0], charge_distance=0)
    task = (solid.positions(), solid.charges, 6, lambda fraction: None)
    print(f"\n64x64x{LENGTH}, strength 6: threads per block, occupancy, seconds")
    for variant in DIRECT[1:]:
        with device as gpu:
            chosen = direct_cuda.Launch(gpu, 6, variant).threads
            for threads in range(32, 1025, 32):
                try:
                    share = direct_cuda.Launch(gpu, 6, variant, threads).occupancy
                except DeviceError as error:
                    print(error)
                    continue
                summed = partial(direct_cuda.sum_at, *task, gpu, variant, threads)
                seconds = min(timed(summed) for _ in range(3))
                mark = " chosen" if threads == chosen else ""
                print(f"{variant:>14} {threads:>5} {share:>7.1%} {seconds:.4f}{mark}", flush=True)


if __name__ == "__main__":
    main()
