"""Where the time of the force field and of whole skeletons goes, step by step.

    python Testing/benchmarks/field_stages.py [--device cuda] [--side 256] [--strength 6]
        [--runs 7] [--memory MIB] [--mask FILE.npy] [--whole]

needs numpy, scipy and numba, and CuPy for CUDA. The object is the tube of the benchmark command, or
a mask of one component. On CUDA the mask and the forces stay on the device, and it waits for each
step. --memory pretends that the device has less free memory. --whole adds `force_field` and
`skeletonize` from and to numpy arrays, with their own stages.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PLACES = ("FuzzyVesselCore", "FuzzyConnectedGPU", "PotentialSkeleton", "CommandLine", "Testing")
sys.path[:0] = [str(ROOT / name) for name in PLACES]

from FuzzyVesselCoreLib.gpu.selection import choose_device  # noqa: E402
from FuzzyVesselCoreLib.progress import Progress  # noqa: E402
from FuzzyVesselCoreLib.voxels.components.labels import label_components  # noqa: E402
from PotentialSkeletonLib import force_field, skeletonize  # noqa: E402
from PotentialSkeletonLib.field.convolution.cpu_transforms import CpuTransforms  # noqa: E402
from PotentialSkeletonLib.field.convolution.cuda_lines import LineConvolution  # noqa: E402
from PotentialSkeletonLib.field.convolution.fft_padding import Sizes  # noqa: E402
from PotentialSkeletonLib.field.convolution.kernel_spectra import KernelSpectra  # noqa: E402
from PotentialSkeletonLib.field.cuda_solid import CudaSolid  # noqa: E402
from PotentialSkeletonLib.field.methods import fft_convolution  # noqa: E402
from PotentialSkeletonLib.field.methods.distance_bands import distance_bands  # noqa: E402
from PotentialSkeletonLib.field.solid import solids  # noqa: E402
from PotentialSkeletonLib.field.summation import Summation  # noqa: E402
from support.solid_shapes import wavy_tube  # noqa: E402

STEPS = (
    "put_charges", "charge_rows", "kernel_rows", "put_rows", "load", "kernel_along_j",
    "factors_along_k", "along_j", "along_k", "back_along_j", "factors", "forward", "multiply",
    "inverse", "save", "get_rows", "write",
)  # fmt: skip


def main():
    options = read_options()
    begin = perf_counter()
    gpu = choose_device(options.device)
    print(f"looking for a GPU: {perf_counter() - begin:.2f} s")
    gpu = None if gpu == "cpu" else gpu
    if options.mask:
        mask = np.load(options.mask) != 0
    else:
        mask = wavy_tube((487, options.side, options.side))
    [(_, solid)] = solids(label_components(mask)[0], charge_distance=0)
    sizes = Sizes(solid.object.shape, on_device=gpu is not None)
    print(f"device {gpu.name if gpu else 'cpu'}, strength {options.strength}")
    print(f"box {sizes.shape}, padded to {sizes.padded}")
    if gpu is None:
        show_steps(lambda: convolve(solid, options.strength, None), options, CpuTransforms)
    else:
        on_card(gpu, solid, options)
    if options.whole:
        show_whole(mask, options)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--side", type=int, default=256)
    parser.add_argument("--strength", type=int, default=6)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--memory", type=int, help="MiB of the device that are taken as free")
    parser.add_argument("--mask", help="a labelmap of one component, as numpy saves it")
    parser.add_argument("--whole", action="store_true")
    return parser.parse_args()


def on_card(gpu, solid, options):
    """The whole field with the mask on the device, and its steps."""
    from PotentialSkeletonLib.field.convolution.cuda_transforms import CudaTransforms

    with gpu:
        if options.memory:
            gpu.free_memory = lambda: options.memory << 20
        component = gpu.put(solid.object.view(np.uint8))
        summation = Summation("fft", options.strength, gpu)
        stages = Counter()
        clock = [perf_counter()]

        def watch(stage):
            now = perf_counter()
            stages[stage] += now - clock[0]
            clock[0] = now

        def field(watch=None):
            vectors = CudaSolid(component, 0, gpu).forces(summation, watch=watch)
            gpu.synchronize()
            return vectors

        begin = perf_counter()
        field()
        print(f"first field in this process: {perf_counter() - begin:.2f} s")
        print(f"field on the device: {timed(field, options.runs)}; peak {gpu.peak_bytes >> 20} MiB")
        for note in summation.notes():
            print(note)
        clock[0] = perf_counter()
        field(watch)
        print("stages:", {name: f"{1000 * s:.2f} ms" for name, s in stages.items()})
        on_the_card = CudaSolid(component, 0, gpu)
        show_steps(
            lambda: convolve(on_the_card, options.strength, gpu), options, CudaTransforms,
            gpu.synchronize,
        )  # fmt: skip


def convolve(solid, strength, gpu):
    shape = (*solid.classes.shape, 3)
    vectors = np.zeros(shape, np.float32) if gpu is None else gpu.xp.zeros(shape, np.float32)
    bands = list(distance_bands(solid, strength))
    fft_convolution.sum_bands(solid, strength, bands, vectors, Progress(), gpu)


def show_steps(run, options, transforms, wait=lambda: None):
    """Seconds in each step, summed over its calls; on the CPU by one worker."""
    convolution = timed(run, options.runs if transforms is not CpuTransforms else 2)
    spent, calls = Counter(), Counter()

    def clocked(name, function):
        def call(*args, **kwargs):
            wait()
            begin = perf_counter()
            result = function(*args, **kwargs)
            wait()
            spent[name] += perf_counter() - begin
            calls[name] += 1
            return result

        return call

    owners = {
        name: owner
        for owner in (transforms, LineConvolution)
        for name in STEPS
        if hasattr(owner, name)
    }
    kept = {name: getattr(owner, name) for name, owner in owners.items()}
    factors, begin = KernelSpectra.factors, transforms.__init__

    def one_worker(self, *args):
        begin(self, *args)
        self.workers = 1

    try:
        for name, function in kept.items():
            setattr(owners[name], name, clocked(name, function))
        KernelSpectra.factors = clocked("factors", factors)
        transforms.__init__ = one_worker
        run()
    finally:
        for name, function in kept.items():
            setattr(owners[name], name, function)
        KernelSpectra.factors, transforms.__init__ = factors, begin
    print(f"convolution: {convolution}; its steps with a wait after each,")
    print("'load' in 'factors' too, what 'put_charges' calls by itself, too:")
    for name in filter(calls.get, STEPS):
        print(f"  {name:>15} {calls[name]:>5} calls {1000 * spent[name]:>9.2f} ms")


def timed(run, runs):
    run()
    seconds = []
    for _ in range(runs):
        begin = perf_counter()
        run()
        seconds.append(perf_counter() - begin)
    return f"median {1000 * median(seconds):.2f} ms, best {1000 * min(seconds):.2f} ms of {runs}"


def show_whole(mask, options):
    for name, function in (("force_field", force_field), ("skeletonize", skeletonize)):
        results = []

        def run(function=function, results=results):
            results[:] = [function(mask, strength=options.strength, device=options.device)]

        print(f"{name}: {timed(run, min(options.runs, 3))}")
        found = results[0].seconds if name == "force_field" else results[0].report["seconds"]
        print("  ", {stage: round(seconds, 4) for stage, seconds in found.items()})


if __name__ == "__main__":
    main()
