"""The arguments of the command line, checked as far as they can be by themselves.

One table of options and one of commands; nothing heavy is imported, so that the help comes at once.
"""

import argparse
import contextlib
import shlex
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from typing import Any, NoReturn

# Those of `PotentialSkeletonMRML.interchange`, which takes long to import.
TREE_FORMATS = ("vmtk", "graphml", "csv", "simvascular", "stl", "ply")
DEFAULT_TREE_FORMATS = TREE_FORMATS[:4]
SHORT: dict[str, tuple] = {"all": TREE_FORMATS, "none": ()}
EXAMPLES = """\
examples:
  fuzzy-vessel segment ct.nrrd --seed 265,206,70 --seed 174,274,73 --out vessels
  fuzzy-vessel skeleton vessels/labelmap.nrrd --out centrelines
  fuzzy-vessel run ct.nrrd --vessel portal:265,206,70 --vessel hepatic:191,252,108 --out two

Seeds are voxel indices I,J,K, counted from 0, as Slicer shows them.

This is research software: not a medical device, and not for diagnosis.
"""
COHORT_EXAMPLE = """\
example:
  fuzzy-vessel cohort cases.csv --out results --workers 4 --options="--device cpu --border half"

The list has one row a case and these columns, of which only volume is always needed:
  case        name of the case and of its folder (the volume's)
  volume      file or DICOM folder, relative to the list
  seeds       "265,206,70; 174,274,73", or a list of points (.mrk.json)
  vessels     instead of seeds: "portal:265,206,70; hepatic:191,252,108"
  background  "260,200,70"
  mask        file

Cells are separated by commas, semicolons or tabs, and the list is UTF-8 ("CSV UTF-8" in Excel).
Run it again to do what failed, what changed and what was not done yet.
The exit status is 0 if all cases are done, and 3 if any failed.
"""
LARGE_EXAMPLE = """\
example:
  fuzzy-vessel large brain.zarr --affinity 220,60,30 --seed 265,206,70 --out vessels
  fuzzy-vessel large levels.zarr --min-voxels 100 --centrelines --out vessels

levels.zarr is what an earlier run with --affinity has written, or the library's connectedness over
blocks. A run that was interrupted is resumed by the same command.
"""
# A cube of three voxels: in the centrelines of a segmentation, smaller islands are noise.
SMALL_ISLAND = 27
SMALLEST_PHANTOM = 8  # voxels along an axis, for `liver_phantom`
INFINITY = float("inf")


class Parser(ArgumentParser):
    """Says in one line what is wrong with the arguments."""

    def error(self, message: str) -> NoReturn:
        """End the process with exit status 2."""
        if message.endswith("expected one argument"):
            message += " (where it begins with a minus sign, after =: --option=-1,2,3)"
        self.exit(2, f"{self.prog}: error: {message}; {self.prog} --help shows the options\n")


def make_parser() -> ArgumentParser:
    """Return the parser of all arguments."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = Parser(
        prog="fuzzy-vessel", epilog=EXAMPLES, formatter_class=raw,
        description="Segments vessels in CT and MR scans from seeds, by fuzzy connectedness, and "
        "finds their centrelines, by the potential-field method.",
    )  # fmt: skip
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, (text, description, example, names, defaults) in COMMANDS.items():
        look = raw if example else argparse.HelpFormatter
        command = commands.add_parser(
            name, help=text, description=description, epilog=example, formatter_class=look
        )
        for several in names.split():
            one = command.add_mutually_exclusive_group() if "|" in several else command
            for option in several.split("|"):
                _add(one, option, *OPTIONS[option])
        command.set_defaults(**defaults)
    return parser


def _add(parser, name, kind=None, metavar=None, text="", default=None):
    """An argument; choices stand in the place of the type, and a list collects several."""
    more: dict[str, Any] = {"type": kind, "metavar": metavar}
    if isinstance(kind, tuple):
        more = {"choices": kind, "type": type(kind[0])}
    elif kind is bool:
        more = {"action": "store_true"}
    if default == []:
        more["action"] = "append"
    if name.startswith("["):
        name, more["nargs"] = name.strip("[]"), "?"
    if name == "--out":
        more["required"] = True
    parser.add_argument(name, help=text, default=default, **more)


# Types of arguments: from text to values.


def _checked(what: str, parse: Callable[[str], Any], allowed: Callable = bool) -> Callable:
    """A type of argument: parsed, and refused where it is not allowed."""

    def parsed(text: str) -> Any:
        with contextlib.suppress(ValueError):
            value = parse(text)
            if allowed(value):
                return value
        raise ArgumentTypeError(f"{text!r} is not {what}")

    return parsed


def _numbers(kind):
    return lambda text: tuple(kind(part) for part in text.split(","))


def _vessel(text):
    name, _, place = text.rpartition(":")
    return name.strip(), tuple(int(part) for part in place.split(","))


def _formats(text):
    return SHORT[text] if text in SHORT else tuple(map(str.strip, text.split(",")))


def _whole(first):
    return _checked(f"a whole number from {first} up", int, lambda n: n >= first)


natural, count, phantom_size = map(_whole, (0, 1, SMALLEST_PHANTOM))
share = _checked("a number from 0 to 1", float, lambda x: 0 <= x <= 1)
gigabytes = _checked("a number of gigabytes such as 16", float, lambda x: 0 < x < INFINITY)
spacing = _checked(
    "three lengths such as 0.5,0.5,2",
    _numbers(float),
    lambda lengths: len(lengths) == 3 and all(0 < mm < INFINITY for mm in lengths),
)
affinity = _checked(
    "MEAN,SIGMA,GRADIENT such as 220,60,30, the last two above 0",
    _numbers(float),
    lambda x: len(x) == 3 and abs(x[0]) < INFINITY and all(0 < each < INFINITY for each in x[1:]),
)
voxel = _checked(
    "a voxel I,J,K such as 265,206,70 (indices, not R,A,S in mm)",
    _numbers(int),
    lambda found: len(found) == 3,
)
vessel = _checked(
    "NAME:I,J,K such as portal:265,206,70", _vessel, lambda each: each[0] and len(each[1]) == 3
)
folder = _checked("a folder: the name of the folder is empty", str, str.strip)
labels = _checked(
    "a list of labels such as 1,3, and not all",
    lambda text: text if text == "all" else tuple(dict.fromkeys(_numbers(int)(text))),
    lambda found: 0 not in found if found != "all" else True,
)
tree_formats = _checked(
    f"a list of formats, with commas between: {', '.join([*TREE_FORMATS, *SHORT])}",
    _formats,
    set(TREE_FORMATS).issuperset,
)


def threshold(text: str) -> float | None:
    """Parse a number from 0 to 1, or auto (None)."""
    return None if text == "auto" else share(text)


# Every option of every command: type, what stands for the value, help text, and default.
# fmt: off
FILES = ".nrrd, .nhdr, .mha, .mhd, .nii, .nii.gz, .tif"
OPTIONS: dict[str, tuple] = {
    # What is segmented, and how.
    "volume": (None, "VOLUME", f"{FILES}, a folder with one DICOM series, or an OME-Zarr folder "
        "(image.zarr, or image.zarr/2 for its third resolution)"),
    "--seed": (voxel, "I,J,K", "a voxel inside a vessel; may be given several times", []),
    "--vessel": (vessel, "NAME:I,J,K",
        "a voxel inside a vessel of this name, instead of --seed; several names give several "
        "vessels that never overlap, one label and one segment each; the same name several times "
        "gives one vessel more points", []),
    "--seeds": (None, "FILE", "seeds as Slicer saves points (.mrk.json)"),
    "--automatic-seeds": (count, "N", "find up to N seeds where the contrast in the volume or mask "
        "is most tubular; look at them in the picture", 0),
    "--background": (voxel, "I,J,K", "a voxel that is not in a vessel: the leak that it lies in is "
        "removed (model affinity and large: the automatic threshold is raised)", []),
    "--mask": (None, "FILE", "stay where this volume is not 0"),
    "--frame": (int, "N", "which frame of a 4D file, counted from 0"),
    "--channel": (int, "N", "which channel of OME-Zarr or TIFF, from 0"),
    "--spacing": (spacing, "I,J,K",
        "of OME-Zarr or TIFF: size of a voxel in mm, instead of what the file says"),
    "--threshold": (threshold, "auto|X",
        "connectedness from which on a voxel belongs to the vessels, 0 to 1 (auto)"),
    "--cut": (share, "X",
        "of affinities: ignore those below X: faster, exact from X on (0)"),
    "--fill-gaps": (int, "N", "add voxels that the vessels surround, in N rounds: what noise has "
        "left out of wide vessels (0)", 0),
    "--model": (("contrast", "affinity"), None, "contrast: to the surroundings, connected from the "
        "seeds; affinity: to the seeds, as in the papers (contrast; affinity where one of its "
        "options is given)"),
    "--border": (("drawn", "half"), None, "of the model contrast: where experts draw it, or at "
        "half the contrast (drawn)"),
    "--radius": (int, "N",
        "of the model affinity: voxels round each seed that it is estimated from (2)"),
    "--side": (("both", "bright", "dark"), None, "of the model affinity: bright: intensities above "
        "the seeds' mean count as vessel, too (both)"),
    "--solver": (None, "NAME",
        "of the model affinity: how it is computed; an unknown NAME lists all (exact)"),
    # The phantom.
    "--size": (phantom_size, "N", "N x N x N voxels (256)", 256),
    "--seed-number": (natural, "S", "another number, another liver (0)", 0),
    # Centrelines.
    "labelmap": (None, "LABELMAP", f"{FILES} or an OME-Zarr folder with the voxels of the object"),
    "--label": (int, "N", "take the voxels of this label (all but 0)"),
    "--labels": (labels, "all|N,N",
        "one tree for each of these labels, in a folder each, and one table of all branches"),
    "--level": ((1, 2, 3), None, "1: the core alone; 2: the branches, too; 3: also towards sharp "
        "corners (2)", 2),
    "--strength": (int, "M", "exponent of the repelling force, 3 to 9 (6)", 6),
    "--charge-distance": (int, "D",
        "voxels by which the charges lie outside the surface (0 to 2, by the width)"),
    "--drop-islands": (int, "N", "leave components of fewer voxels out, never the largest "
        f"(0; of a segmentation {SMALL_ISLAND})", 0),
    "--close-tunnels": (float, "MM", "close narrow tunnels first, none wider than so many mm "
        "(0; of a segmentation the width of two voxels)", 0.0),
    "--formats": (tree_formats, "NAMES", "of the centrelines for other programs, with commas "
        f"between: {', '.join(TREE_FORMATS)}, all or none ({','.join(DEFAULT_TREE_FORMATS)})",
        DEFAULT_TREE_FORMATS),
    "--root": (voxel, "I,J,K", "where a tree begins: the end of the centrelines that is nearest to "
        "this voxel; may be given once for each component (the end of the thickest branch)", []),
    # Results.
    "--device": (None, "D", "auto, cpu, cuda or cuda:1 (auto)", "auto"),
    "--nifti": (bool, None, "write labels as .nii.gz, too", False),
    "--out": (folder, "DIR", "folder for the results"),
    # Many volumes, and large ones.
    "list": (None, "LIST", "the cases, a CSV file"),
    "--options": (shlex.split, "TEXT", "options of run for all cases, in quotes, after =", ()),
    "--workers": (count, "N", "cases or blocks at a time (1)", 1),
    "scene": (None, "SCENE", "Zarr or OME-Zarr folder, or .npy: levels (uint16) or values "
        "(float32) of connectedness; or a labelmap, whose object is where it is not 0; or with "
        "--affinity the volume"),
    "--affinity": (affinity, "MEAN,SIGMA,GRADIENT",
        "compute connectedness from every --seed first, by the affinity of the papers: intensity "
        "of the vessels and its spread, and the spread of differences between neighbours"),
    "--components": (("all", "largest", "seeds"), None,
        "all, the largest, or those that a --seed lies in (all)", "all"),
    "--min-voxels": (count, "N", "leave smaller components out (1)", 1),
    "--missing-chunks": (("fill", "error"), None, "chunks of the scene that have no file: the fill "
        "value, which zarr does not store, or an error (fill)", "fill"),
    "--block": (count, "N", "voxels along a block's sides (256)", 256),
    "--memory-limit": (lambda text: int(gigabytes(text) * 1e9), "GB",
        "refuse what may need more, before it begins (four fifths of the machine's)"),
    "--numbered": (bool, None, "give each component a number of its own", False),
    "--centrelines": (bool, None, "find the centrelines, too; numbers components", False),
    "folder": (folder, "DIR", "made if it is not there"),
    # The page.
    "[volume]": (None, "VOLUME", f"{FILES}, a DICOM or OME-Zarr folder (the built-in phantom)"),
    "--host": (None, "NAME", "the address to listen on; another than 127.0.0.1 lets other "
        "computers in that know the key, without encryption", "127.0.0.1"),
    "--port": (natural, "N", "the port to listen on (any that is free)", 0),
    "--no-open": (bool, None, "open no browser", False),
    "--until-closed": (bool, None, "end when the last page was closed", False),
}
MODEL = "--model --border --radius --side --solver"
SEGMENT = ("volume --seed --vessel --seeds --automatic-seeds --background --mask --frame --channel "
           f"--spacing --threshold --cut --fill-gaps {MODEL}")
OF_A_PART = "--level --strength --charge-distance --drop-islands --formats --root"
CENTRELINES = f"{OF_A_PART} --close-tunnels"  # that needs the whole object
OUTPUT = "--device --nifti --out"
OF_A_SEGMENTATION = {"drop_islands": SMALL_ISLAND, "close_tunnels": None}
# Help, description, example, options (those with | between exclude each other), and defaults.
COMMANDS: dict[str, tuple] = {
    "segment": ("segment a volume from seeds", "Segments the vessels that the seeds lie in.",
        EXAMPLES, f"{SEGMENT} {OUTPUT}", {}),
    "run": ("segment a volume from seeds, and find the centrelines",
        "Segments the vessels that the seeds lie in, and finds their centrelines.",
        EXAMPLES, f"{SEGMENT} {CENTRELINES} {OUTPUT}", OF_A_SEGMENTATION),
    "skeleton": ("find the centrelines of a labelmap",
        "Finds the centrelines of the vessels, or of any object, in a labelmap.", None,
        f"labelmap --label|--labels --channel --spacing {CENTRELINES} {OUTPUT}", {}),
    "demo": ("segment a synthetic liver, and find the centrelines",
        "Makes a synthetic CT of a liver, segments its vessels and finds their centrelines.",
        None,
        f"--size --seed-number --fill-gaps {MODEL} {CENTRELINES} {OUTPUT}",
        {**OF_A_SEGMENTATION, "threshold": None, "cut": None, "mask": None, "automatic_seeds": 0}),
    "cohort": ("segment many volumes, find their centrelines, and make one table",
        "Does what run does for each case of a list, and makes one table of all, cases.csv. A "
        "case that fails stops no other.", COHORT_EXAMPLE, "list --out --workers --options", {}),
    "large": ("labels and centrelines of a volume that does not fit in memory",
        "Makes an OME-Zarr label image from a fuzzy scene that does not fit in memory, block by "
        "block, and the centrelines, component by component: the same, bit for bit, as of the "
        "whole.", LARGE_EXAMPLE,
        "scene --affinity --threshold --seed --fill-gaps --cut --components --min-voxels "
        "--background --mask --spacing --missing-chunks --block --workers --memory-limit "
        f"--numbered --centrelines {OF_A_PART} --device --out", {"cut": 0.0, "close_tunnels": 0.0}),
    "serve": ("vessels in a browser: click, correct, measure, save",
        "Serves a page with the slices and the 3D view of a volume, or of the built-in phantom, at "
        "an address of this computer that only you know. Ctrl+C ends it.", None,
        "[volume] --frame --channel --spacing --device --host --port --no-open --until-closed", {}),
    "slicer-cli": ("make both jobs CLI modules of Slicer",
        "Writes two small programs and their descriptions into a folder. Name it in Slicer under "
        "Edit > Application Settings > Modules > Additional module paths.", None, "folder",
        {"command": "slicer_cli"}),
}
