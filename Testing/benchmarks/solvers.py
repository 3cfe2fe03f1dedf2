"""Every solver on one volume after the other: seconds, error voxels, memory.

    python Testing/benchmarks/solvers.py [--sizes 131,261,576] [--scan CT.nrrd I,J,K ...]
        [--solvers exact,cuda-kfoe,cuda-kfoe-corrected] [--directions] [--repeat 3]

The volumes are liver phantoms of 512 x 512 x N voxels, as large as the scans of the papers' tables,
and a scan with seeds if one is named. The reference is `dial` on the CPU. Seconds are the median of
the repeats, from numpy arrays to numpy arrays; "propagate" is the solver with the transfers to and
from the card. With --directions, the corrected CUDA-kFOE runs with 0 to 6 of them (English paper,
table 2). Runs without Slicer; on a machine without a GPU the CUDA solvers are left out.
"""

import argparse
import gzip
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "FuzzyConnectedGPU"))

from FuzzyConnectedGPULib import connectedness, error_voxels, estimate_affinity  # noqa: E402
from FuzzyConnectedGPULib.solvers import CPU_MODULES  # noqa: E402
from FuzzyVesselCommon.cuda import CudaDevice, cuda_status  # noqa: E402
from FuzzyVesselCommon.phantom import liver_phantom  # noqa: E402

ROW = "{:<24}{:>12}{:>12}{:>9}{:>14}{:>15}"


def read_nrrd(path):
    """Voxels (K, J, I) of a gzip-compressed little-endian int16 NRRD file."""
    header, _, data = Path(path).read_bytes().partition(b"\n\n")
    fields = dict(
        line.split(": ", 1) for line in header.decode("ascii").splitlines() if ": " in line
    )
    if fields["type"] not in ("short", "int16", "signed short") or fields["encoding"] != "gzip":
        raise SystemExit(f"{path}: only gzip-compressed int16 NRRD files are read here")
    sizes = [int(size) for size in fields["sizes"].split()]
    return np.frombuffer(gzip.decompress(data), "<i2").reshape(sizes[::-1])


def measure(volume, seeds, affinity, repeat, **options):
    """One scene, and the medians of its total and its propagation time in seconds."""
    connectedness(volume, seeds, affinity, **options)  # compile and warm up
    scenes = [connectedness(volume, seeds, affinity, **options) for _ in range(repeat)]
    totals = [sum(scene.seconds.values()) for scene in scenes]
    return scenes[-1], np.median(totals), np.median([s.seconds["propagate"] for s in scenes])


def compare(name, volume, seeds, runs, repeat):
    """Print one row for each run."""
    affinity = estimate_affinity(volume, seeds)
    print(
        f"\n{name}: {' x '.join(map(str, volume.shape[::-1]))} {volume.dtype}, {len(seeds)} seeds"
    )
    print(ROW.format("solver", "total s", "propagate s", "rounds", "bytes a voxel", "error voxels"))
    reference = connectedness(volume, seeds, affinity, solver="dial")
    row("dial (reference)", volume, reference, *[sum(reference.seconds.values())], None, 0)
    for label, options in runs:
        scene, total, propagate = measure(volume, seeds, affinity, repeat, **options)
        row(label, volume, scene, total, propagate, error_voxels(scene, reference))


def row(label, volume, scene, total, propagate, errors):
    propagate = scene.seconds["propagate"] if propagate is None else propagate
    print(
        ROW.format(
            label,
            f"{total:.3f}",
            f"{propagate:.3f}",
            scene.rounds,
            f"{scene.peak_bytes / volume.size:.2f}",
            errors,
        ),
        flush=True,
    )


def wanted_runs(solvers, directions):
    """Label and options of each run that this machine can do."""
    has_card = cuda_status() is None
    runs = []
    for solver in solvers:
        if has_card and solver not in ("dial", "kfoe"):
            runs.append((solver, dict(solver=solver, device="cuda")))
        elif solver in CPU_MODULES:
            runs.append((solver, dict(solver=solver, device="cpu")))
    if has_card and directions:
        corrected = dict(solver="cuda-kfoe-corrected", device="cuda")
        runs += [
            (f"corrected, {number} directions", {**corrected, "directions": number})
            for number in range(7)
        ]
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="131,261,576", help="slices of the phantoms")
    parser.add_argument("--scan", nargs="+", help="an NRRD file and seeds I,J,K")
    parser.add_argument("--solvers", default="exact,cuda-kfoe,cuda-kfoe-corrected")
    parser.add_argument("--directions", action="store_true")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    runs = wanted_runs(options.solvers.split(","), options.directions)
    status = cuda_status()
    print(f"device: {CudaDevice(0).name}" if status is None else f"no GPU: {status}")
    if options.scan:
        path, *seeds = options.scan
        seeds = [[int(index) for index in seed.split(",")][::-1] for seed in seeds]
        compare(Path(path).name, read_nrrd(path), seeds, runs, options.repeat)
    for slices in filter(None, options.sizes.split(",")):
        phantom = liver_phantom((int(slices), 512, 512))
        compare("liver phantom", phantom.volume, phantom.seeds, runs, options.repeat)


if __name__ == "__main__":
    main()
