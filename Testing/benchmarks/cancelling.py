"""How long a skeleton's run looks away from its progress callback: the wait after Cancel.

    python Testing/benchmarks/cancelling.py [DATA_FOLDER] [--repeats 3] [--most 5]

The liver phantom of 256^3 voxels, a wavy tube of 487 x 256 x 256 voxels (7 M of them in the
object), and from DATA_FOLDER (FUZZY_VESSEL_DATA, else ../shared/data beside the project) the
portal vein and all that grows from three seeds in the liver CT, each at level 3, without and with
cleaning. Each line is a gap between two calls, with the places of both in the code: seconds, and
seconds of this program's processors, which others on the machine do not disturb; of each the least
of all repeats. Runs on the CPU, without Slicer.
"""

import argparse
import gzip
import json
import sys
from itertools import pairwise
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from skeletons import SMALLEST_ISLAND, data_folder, read_nrrd

import support.solids as solids
from FuzzyConnectedGPULib.segmentation import segment
from FuzzyVesselCoreLib.phantom.liver import liver_phantom
from PotentialSkeletonLib import skeletonize
from support.solid_shapes import wavy_tube

CLEANED_VOXELS = 2  # width of the tunnels that are closed
SHOWN_CALLS = 3  # of the package, innermost first


def cases(folder):
    """Name, mask (K, J, I) and spacing of each object."""
    phantom = liver_phantom((256, 256, 256))
    yield "phantom", phantom.mask > 0, phantom.spacing
    yield "rough phantom", solids.rough(phantom.mask > 0, 0.2), phantom.spacing
    yield "wavy tube", wavy_tube((487, 256, 256)), (1.0, 1.0, 1.0)
    if folder is None:
        return
    mask, spacing = read_nrrd(folder / "ircadb01_01_portalvein.nrrd")
    yield "portal vein", mask > 0, spacing
    yield "liver CT", liver_ct(folder), spacing


def liver_ct(folder):
    """What grows in the CT from the seeds of the vessels, without a mask."""
    header, _, data = (folder / "ircadb01_01_ct.nrrd").read_bytes().partition(b"\n\n")
    fields = dict(line.split(": ", 1) for line in header.decode().splitlines() if ": " in line)
    sizes = [int(size) for size in fields["sizes"].split()][::-1]
    volume = np.frombuffer(gzip.decompress(data), "<i2").reshape(sizes)
    clicks = json.loads((folder / "seeds.json").read_text())["ircadb01_01_ct.nrrd"]["seeds"]
    seeds = [c["ijk"][::-1] for c in clicks if not c["label"].startswith("BACKGROUND")]
    return segment(volume, seeds).labels > 0


def place():
    """Where the callback was called from, innermost first."""
    frame, found = sys._getframe(2), []
    while frame is not None and len(found) < SHOWN_CALLS:
        path = Path(frame.f_code.co_filename)
        if "PotentialSkeletonLib" in path.parts and path.name != "stages.py":
            found.append(f"{path.stem}:{frame.f_lineno}")
        frame = frame.f_back
    return " < ".join(found)


def now():
    return np.array([perf_counter(), process_time()])


def gaps(mask, spacing, **options):
    """Seconds (of the clock, of processors) between calls, the longest for each pair of places; and
    seconds in all."""
    calls = [(now(), "start")]
    skeletonize(
        mask, spacing, level=3, device="cpu",
        progress=lambda _: calls.append((now(), place())) or True,
        **options,
    )  # fmt: skip
    calls.append((now(), "end"))
    longest = {}
    for (before, first), (after, second) in pairwise(calls):
        longest[first, second] = np.maximum(longest.get((first, second), 0), after - before)
    return longest, (calls[-1][0] - calls[0][0])[0]


def show(name, runs, most):
    seconds = min(total for _, total in runs)
    none = np.zeros(2)
    least = {pair: np.min([run.get(pair, none) for run, _ in runs], axis=0) for pair in runs[0][0]}
    print(f"{name}: {seconds:.1f} s", flush=True)
    for (first, second), gap in sorted(least.items(), key=lambda item: -min(item[1]))[:most]:
        print(f"  {gap[0]:.3f} s ({gap[1]:.3f})  {first}  ->  {second}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", metavar="DATA_FOLDER")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--most", type=int, default=5, help="gaps that are shown for each case (5)")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    options = parser.parse_args()
    small = solids.rough(solids.tapered_y()[0], 0.2)
    for method in ("fft", "direct-serial"):  # compiles
        gaps(small, (1, 1, 1), drop_islands=2, close_tunnels=3, method=method)
    for name, mask, spacing in cases(data_folder(options.data)):
        if options.only not in name:
            continue
        width = CLEANED_VOXELS * float(np.median(spacing))
        cleaning = dict(drop_islands=SMALLEST_ISLAND, close_tunnels=width)
        for title, chosen in ((name, {}), (f"{name}, cleaned", cleaning)):
            runs = [gaps(mask, spacing, **chosen) for _ in range(options.repeats)]
            show(f"{title}, {'x'.join(map(str, mask.shape))}", runs, options.most)


if __name__ == "__main__":
    main()
