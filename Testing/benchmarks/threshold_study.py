"""Compares ways to choose the threshold of a fuzzy scene with the best threshold there is.

    python Testing/benchmarks/threshold_study.py [DATA_FOLDER] [--seeds 3,4,5] [--sizes 96,160]

For phantoms of several sizes, patients and noise levels, and for the scans in DATA_FOLDER
(default: the environment variable FUZZY_VESSEL_DATA; without either, phantoms alone), prints the
best Dice over all thresholds and, for each method, "threshold:share", the share of that Dice
which it reaches. Livers are judged inside the liver grown by 2 voxels, against all vessels. The
references of the MR angiographies are not an expert's: the connected region above a fixed
intensity, so their figures say how the method meets that region.
"""

import argparse
import json
import os
import sys
from pathlib import Path

import numpy as np
from scipy import ndimage

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "FuzzyVesselCore"), str(ROOT / "FuzzyConnectedGPU")]

from FuzzyConnectedGPULib import (  # noqa: E402
    automatic_threshold,
    connectedness,
    volume_curve,
)
from FuzzyVesselCoreLib.phantom.liver import liver_phantom  # noqa: E402

CT = "ircadb01_01"
CT_SEEDS = {  # words that pick seeds from seeds.json
    "both trees": ("portal", "hepatic"),
    "inside": ("portal branch", "hepatic"),
    "with cava": ("portal", "hepatic", "cava"),
    "portal": ("portal branch",),
}
ANGIOGRAPHIES = {  # file -> intensity above which README.md of the data calls it vessel
    "aorta_mra.mha": 1000,
    "circle_of_willis_mra_small.nrrd": 260,
    "head_mra_oblique.nii.gz": 110,
}


# --- methods: from the scene, its thresholds and its volume curve, to a threshold ------------


def otsu(scale):
    """Otsu's threshold of the connected voxels on a scale."""

    def method(_scene, thresholds, counts):
        density = -np.diff(counts, append=0).astype(float)
        value = scale(thresholds.astype(float))
        weight, moment = density.cumsum(), (density * value).cumsum()
        with np.errstate(all="ignore"):
            between = (moment[-1] * weight - moment * weight[-1]) ** 2 / (
                weight * (weight[-1] - weight)
            )
        return thresholds[min(np.nanargmax(between[:-1]) + 1, len(thresholds) - 1)]

    return method


def valley(_scene, thresholds, counts):
    """First valley above the highest peak of the smoothed log histogram over log t."""
    edges = np.linspace(np.log(1e-4), 0, 97)
    density = -np.diff(counts, append=0)
    bins, _ = np.histogram(np.log(thresholds), edges, weights=density)
    smooth = ndimage.gaussian_filter1d(np.log1p(bins), 1.5, mode="nearest")
    peak = int(np.argmax(smooth[:-4]))
    rises = np.flatnonzero(np.diff(smooth[peak:]) > 0)
    return np.exp(edges[peak + (rises[0] if len(rises) else 48 - peak // 2)])


def first_explosion(_scene, thresholds, counts):
    """Just above the first step (1 % of the scale, downwards) that doubles the volume."""
    steps = counts[np.linspace(len(counts) - 1, 0, 100).astype(int)]
    doubled = np.flatnonzero((steps[1:] > 2 * steps[:-1]) & (steps[1:] > 0.001 * counts[0]))
    return 1 - (doubled[0] if len(doubled) else 50) / 100


METHODS = {
    "automatic": lambda scene, *_: automatic_threshold(scene),
    "valley": valley,
    "Otsu": otsu(lambda t: t),
    "Otsu log": otsu(np.log),
    "explosion": first_explosion,
    "0.5": lambda *_: 0.5,
}


# --- cases: name, volume, seeds, reference, region that is judged, mask ----------------------


def phantoms(sizes, seeds, noises):
    for size in sizes:
        for seed in seeds:
            for noise in noises:
                made = liver_phantom((size,) * 3, seed, noise=noise)
                region = ndimage.binary_dilation(made.liver, iterations=2)
                name = f"phantom {size} seed {seed} noise {noise:g}"
                yield name, made.volume, made.seeds, made.mask > 0, region, None
        yield f"{name}, masked", made.volume, made.seeds, made.mask > 0, region, region


def scans(folder):
    import slicer

    from fuzzy_vessel.reading.volumes import read_volume

    def array(name):
        return slicer.util.arrayFromVolume(read_volume(folder / name)).copy()

    listed = json.loads((folder / "seeds.json").read_text())

    def seeds(name, words=("",)):
        points = [
            s["ijk"][::-1]
            for s in listed[name]["seeds"]
            if "BACKGROUND" not in s["label"] and any(w in s["label"] for w in words)
        ]
        return np.array(points)

    ct = array(f"{CT}_ct.nrrd")
    vessels = (array(f"{CT}_portalvein.nrrd") > 0) | (array(f"{CT}_venoussystem.nrrd") > 0)
    liver = ndimage.binary_dilation(array(f"{CT}_liver.nrrd") > 0, iterations=2)
    for name, words in CT_SEEDS.items():
        points = seeds(f"{CT}_ct.nrrd", words)
        yield f"liver CT, {name}", ct, points, vessels, liver, None
        yield f"liver CT, {name}, masked", ct, points, vessels, liver, liver
    for name, level in ANGIOGRAPHIES.items():
        volume, points = array(name), seeds(name)
        pieces, _ = ndimage.label(volume > level)
        reference = np.isin(pieces, np.setdiff1d(pieces[tuple(points.T)], 0))
        yield name, volume, points, reference, None, None


# --- the table -------------------------------------------------------------------------------


def dice_curve(values, reference, region):
    """Dice at each of the thresholds of `volume_curve`."""
    if region is not None:
        values, reference = values[region], reference[region]
    _, counts = volume_curve(values)
    _, hits = volume_curve(values[reference])
    return 2 * hits / (counts + np.count_nonzero(reference))


def study(cases):
    print(f"{'case':36}{'best':>12} " + "".join(f"{m:>13}" for m in METHODS) + "  confidence")
    shares = []
    for name, volume, seeds, reference, region, mask in cases:
        scene = connectedness(volume, seeds, device="cpu", mask=mask)
        thresholds, counts = volume_curve(scene)
        dice = dice_curve(scene.values, reference, region)
        best = int(np.argmax(dice))
        chosen = [float(m(scene, thresholds, counts)) for m in METHODS.values()]
        at = np.minimum(np.searchsorted(thresholds, np.float32(chosen)), len(dice) - 1)
        shares.append(dice[at] / dice[best])
        cells = "".join(f"{t:8.3f}:{s:4.2f}" for t, s in zip(chosen, shares[-1]))
        sure = automatic_threshold(scene).confidence
        print(f"{name:36}{dice[best]:6.3f}@{thresholds[best]:5.3f} {cells}  {sure:.2f}", flush=True)
    for label, figure in [
        ("mean share", np.mean(shares, 0)),
        ("median share", np.median(shares, 0)),
        ("lowest tenth", np.quantile(shares, 0.1, axis=0)),
        ("worst", np.min(shares, 0)),
    ]:
        print(f"{label:49}" + "".join(f"{f:13.2f}" for f in figure))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", default=os.environ.get("FUZZY_VESSEL_DATA"))
    parser.add_argument("--seeds", default="3,4,5", help="numbers of the phantoms' patients")
    parser.add_argument("--sizes", default="64,96,128,160", help="voxels along each axis")
    parser.add_argument("--noises", default="8,14,20", help="standard deviations in HU")
    options = parser.parse_args()
    numbers = [
        [int(n) for n in option.split(",")]
        for option in (options.sizes, options.seeds, options.noises)
    ]
    if options.data:
        from fuzzy_vessel.slicer_host import headless

        application = headless.start()
        study(scans(Path(options.data)))
        application.clear()
    study(phantoms(*numbers))


if __name__ == "__main__":
    main()
