"""The two CLI modules and their parameters."""

import argparse

from ..arguments.values import threshold
from .description import Group, Module, Parameter

MULTIPLE_RAS = (("multiple", "true"), ("coordinateSystem", "ras"))
LABELS = (("type", "label"), ("fileExtensions", ".nrrd"))
LINES = (("type", "model"), ("fileExtensions", ".vtp"))
# A cube of three voxels: smaller islands are noise.
SMALL_ISLAND = 27


def point(text: str) -> tuple[float, float, float]:
    """Parse R,A,S in mm.

    Raises
    ------
    argparse.ArgumentTypeError
    """
    try:
        r, a, s = (float(part) for part in text.split(","))
    except ValueError:
        r = a = s = float("nan")
    if not all(abs(mm) < 1e9 for mm in (r, a, s)):
        raise argparse.ArgumentTypeError(f"{text!r} is no point R,A,S such as -104.5,20,33")
    return r, a, s


DEVICE = Parameter(
    "string", "device", "Device", "auto, cpu, cuda or cuda:1", flag="device", default="auto"
)

SEGMENT = Module(
    "FuzzyVesselSegment",
    "Fuzzy vessel segmentation",
    "Segments the vessels that points lie in, by fuzzy connectedness. Research software: not a "
    "medical device, and not for diagnosis.",
    (
        Group(
            "Input and output",
            "Volume, points and results",
            (
                Parameter("image", "volume", "Volume", "CT or MR angiography", channel="input"),
                Parameter(
                    "image", "labels", "Vessels", "Labelmap of the vessels", channel="output",
                    attributes=LABELS,
                ),
                Parameter(
                    "point", "seeds", "Points in vessels", "One or more points inside vessels",
                    flag="seed", attributes=MULTIPLE_RAS, parse=point,
                ),
                Parameter(
                    "point", "background", "Points outside", "The leak at each is removed",
                    flag="background", attributes=MULTIPLE_RAS, parse=point,
                ),
                Parameter(
                    "image", "mask", "Mask", "Stay where this volume is not 0", flag="mask",
                    channel="input", attributes=(("type", "label"),),
                ),
                Parameter(
                    "image", "connectedness", "Connectedness", "Strength of each voxel, 0 to 1",
                    flag="connectedness", channel="output",
                    attributes=(("fileExtensions", ".nrrd"),),
                ),
            ),
        ),
        Group(
            "Options",
            "How the vessels are found",
            (
                Parameter(
                    "integer", "automatic_seeds", "Automatic points", "Find up to so many points",
                    flag="automaticSeeds", default=0, limits=(0, 100, 1), parse=int,
                ),
                Parameter(
                    "string", "threshold", "Threshold", "auto, or connectedness from 0 to 1",
                    flag="threshold", default="auto", parse=threshold,
                ),
                Parameter(
                    "integer", "fill_gaps", "Fill gaps", "Rounds in which gaps are filled",
                    flag="fillGaps", default=0, limits=(0, 10, 1), parse=int,
                ),
                Parameter(
                    "string-enumeration", "border", "Border",
                    "Where experts draw it, or at half the contrast", flag="border",
                    default="drawn", choices=("drawn", "half"),
                ),
                DEVICE,
            ),
            advanced=True,
        ),
    ),
)  # fmt: skip

SKELETON = Module(
    "FuzzyVesselSkeleton",
    "Fuzzy vessel centrelines",
    "Finds the centrelines of the vessels, or of any object, in a labelmap, by the potential-field "
    "method. Research software: not a medical device, and not for diagnosis.",
    (
        Group(
            "Input and output",
            "Labelmap and results",
            (
                Parameter(
                    "image", "labelmap", "Labelmap", "The object's voxels", channel="input",
                    attributes=(("type", "label"),),
                ),
                Parameter(
                    "geometry", "centrelines", "Centrelines", "A line a branch, with radius",
                    channel="output", attributes=LINES,
                ),
                Parameter(
                    "geometry", "tubes", "Tubes", "Surface of the branches' radii", flag="tubes",
                    channel="output", attributes=LINES,
                ),
                Parameter(
                    "table", "branches", "Branches", "Length and radius of each branch",
                    flag="branches", channel="output", attributes=(("fileExtensions", ".csv"),),
                ),
            ),
        ),
        Group(
            "Options",
            "How the centrelines are found",
            (
                Parameter(
                    "integer", "label", "Label", "Take the voxels of this label; 0: of all",
                    flag="label", default=0, limits=(0, 65535, 1), parse=int,
                ),
                Parameter(
                    "integer", "level", "Level", "1: core, 2: branches, 3: also sharp corners",
                    flag="level", default=2, limits=(1, 3, 1), parse=int,
                ),
                Parameter(
                    "integer", "strength", "Strength", "Exponent of the repelling force",
                    flag="strength", default=6, limits=(3, 9, 1), parse=int,
                ),
                Parameter(
                    "integer", "drop_islands", "Drop islands",
                    "Leave components of fewer voxels out, never the largest", flag="dropIslands",
                    default=SMALL_ISLAND, limits=(0, 1_000_000, 1), parse=int,
                ),
                DEVICE,
            ),
            advanced=True,
        ),
    ),
)  # fmt: skip
MODULES = (SEGMENT, SKELETON)
