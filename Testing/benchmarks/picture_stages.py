"""Processor seconds of the pictures that `fuzzy-vessel run` and `demo` draw, by stages.

    python Testing/benchmarks/picture_stages.py [DATA_FOLDER] [--repeats 3] [--save FOLDER]

The liver CT of DATA_FOLDER (FUZZY_VESSEL_DATA, else ../shared/data beside the project) with the
expert's portal vein, or without one the liver phantom of 256 x 256 x 256 voxels. Of each stage the
least of the repeats: this program's processor seconds and those of the processes that it starts,
and the seconds that pass.
"""

import argparse
import json
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from skeletons import data_folder

from fuzzy_vessel.pictures import offscreen, page, segmentation_picture, skeleton_picture
from fuzzy_vessel.pictures.subject import Subject
from FuzzyVesselCoreLib.phantom.liver import liver_phantom
from PotentialSkeletonLib import skeletonize

CT, VESSELS = "ircadb01_01_ct.nrrd", "ircadb01_01_portalvein.nrrd"
TEXTS = {"title": "A liver", "subtitle": "its voxels", "caption": "what was found"}


class Clock:
    """Seconds of stages: processors here, of processes started here, and on the wall."""

    def __init__(self):
        self.found = {}

    def measure(self, stage, work):
        """What `work` returns."""
        before = self._now()
        result = work()
        taken = [after - first for after, first in zip(self._now(), before, strict=True)]
        self.found.setdefault(stage, []).append(taken)
        return result

    @staticmethod
    def _now():
        usage = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
        return [each.ru_utime + each.ru_stime for each in usage] + [perf_counter()]


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", help="with the scan (FUZZY_VESSEL_DATA)")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    parser.add_argument("--save", metavar="FOLDER", type=Path, help="keep the pictures")
    options = parser.parse_args()
    subject, spacing = scan(data_folder(options.folder))
    skeleton = skeletonize(subject.labels > 0, spacing=spacing)
    clock = Clock()
    offscreen.render = timed(clock, "3D views (the process that renders)", offscreen.render)
    for _ in range(options.repeats):
        pages = {
            "picture": clock.measure("segmentation", lambda: segmentation(subject)),
            "skeleton": clock.measure(
                "skeleton", lambda: skeleton_picture.draw(subject, skeleton, **TEXTS)
            ),
        }
        for name, drawn in pages.items():
            if options.save:
                options.save.mkdir(exist_ok=True)
            where = (options.save or Path("/dev")) / (f"{name}.png" if options.save else "null")
            clock.measure(
                f"{name} written", lambda drawn=drawn, where=where: page.save(drawn, where)
            )
    for stage, runs in clock.found.items():
        here, children, wall = np.min(runs, axis=0)
        print(f"{here:7.2f} CPU s here {children:7.2f} CPU s started {wall:7.2f} s  {stage}")


def segmentation(subject):
    """The picture of a segmentation."""
    inside = subject.volume[subject.labels > 0]
    intensities = {"mean": float(inside.mean()), "sigma": float(inside.std())}
    return segmentation_picture.draw(subject, **intensities, **TEXTS)[0]


def timed(clock, stage, function):
    """The function, measured."""
    return lambda *arguments: clock.measure(stage, lambda: function(*arguments))


def scan(folder):
    """`Subject` of the CT or the phantom, and the spacing (K, J, I)."""
    if folder is None:
        phantom = liver_phantom((256, 256, 256))
        volume, labels, spacing = phantom.volume, phantom.mask, phantom.spacing
        seeds = phantom.seeds
    else:
        from fuzzy_vessel.reading.formats.nrrd import read_voxels

        volume, spacing = read_voxels(folder / CT)
        labels, _ = read_voxels(folder / VESSELS)
        seeds = json.loads((folder / "seeds.json").read_text(encoding="utf-8"))[CT]["seeds"]
        seeds = np.array([seed["ijk"][::-1] for seed in seeds[:2]])
    geometry = np.diag([-spacing[2], -spacing[1], spacing[0], 1.0])
    labels = (np.asarray(labels) > 0).astype(np.uint8)
    return Subject(volume, labels, geometry, np.asarray(seeds)), tuple(spacing)


if __name__ == "__main__":
    main()
