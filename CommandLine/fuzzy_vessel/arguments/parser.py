"""The parser and its commands."""

import argparse
from typing import Any, NoReturn

from .centreline_options import add_centrelines
from .cohort import add_cohort
from .large import add_large
from .options import add_gaps, add_inputs, add_model, add_output, add_segmentation, add_stack
from .values import folder, labels, natural, phantom_size

EXAMPLE = """\
example:
  fuzzy-vessel segment ct.nrrd --seed 265,206,70 --seed 174,274,73 --out vessels
  fuzzy-vessel segment ct.nrrd --vessel portal:265,206,70 --vessel hepatic:191,252,108 --out two

Seeds are voxel indices I,J,K, counted from 0, as Slicer shows them.
"""
EXAMPLES = """\
examples:
  fuzzy-vessel segment ct.nrrd --seed 265,206,70 --seed 174,274,73 --out vessels
  fuzzy-vessel skeleton vessels/labelmap.nrrd --out centrelines
  fuzzy-vessel run ct.nrrd --seed 265,206,70 --seed 174,274,73 --out both
  fuzzy-vessel run ct.nrrd --vessel portal:265,206,70 --vessel hepatic:191,252,108 --out two

Seeds are voxel indices I,J,K, counted from 0, as Slicer shows them.

This is research software: not a medical device, and not for diagnosis.
"""
# A cube of three voxels: in the centrelines of a segmentation, smaller islands are noise.
SMALL_ISLAND = 27


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with the arguments."""

    def error(self, message: str) -> NoReturn:
        """End the process with exit status 2."""
        if message.endswith("expected one argument"):
            message += " (where it begins with a minus sign, after =: --option=-1,2,3)"
        self.exit(2, f"{self.prog}: error: {message}; {self.prog} --help shows the options\n")


class Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Print the version and end the process."""
        from ..report import version

        print(f"fuzzy-vessel {version()}")
        parser.exit(0)


def make_parser(kind: type[Parser] = Parser) -> argparse.ArgumentParser:
    """Return the parser of all arguments; of another kind, it tells otherwise what is wrong."""
    parser = kind(
        prog="fuzzy-vessel",
        description="Segments vessels in CT and MR scans from seeds, by fuzzy connectedness, and "
        "finds their centrelines, by the potential-field method.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_segment(commands)
    _add_skeleton(commands)
    _add_run(commands)
    _add_demo(commands)
    add_cohort(commands)
    add_large(commands)
    _add_slicer_cli(commands)
    return parser


def _add_segment(commands):
    parser = commands.add_parser(
        "segment",
        help="segment a volume from seeds",
        description="Segments the vessels that the seeds lie in.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_inputs(parser)
    add_segmentation(parser)
    add_output(parser)


def _add_skeleton(commands):
    parser = commands.add_parser(
        "skeleton",
        help="find the centrelines of a labelmap",
        description="Finds the centrelines of the vessels, or of any object, in a labelmap.",
    )
    parser.add_argument(
        "labelmap",
        metavar="LABELMAP",
        help=".nrrd, .nhdr, .mha, .mhd, .nii, .nii.gz, .tif or an OME-Zarr folder with the "
        "voxels of the object",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--label", type=int, metavar="N", help="take the voxels of this label (all but 0)"
    )
    which.add_argument(
        "--labels",
        type=labels,
        metavar="all|N,N",
        help="one tree for each of these labels, in a folder each, and one table of all branches",
    )
    add_stack(parser)
    add_centrelines(parser, islands=0, tunnels=0.0)
    add_output(parser)


def _add_run(commands):
    parser = commands.add_parser(
        "run",
        help="segment a volume from seeds, and find the centrelines",
        description="Segments the vessels that the seeds lie in, and finds their centrelines.",
        epilog=EXAMPLE.replace("segment", "run"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_inputs(parser)
    add_segmentation(parser)
    add_centrelines(parser, islands=SMALL_ISLAND, tunnels=None)
    add_output(parser)


def _add_slicer_cli(commands):
    parser = commands.add_parser(
        "slicer-cli",
        help="make both jobs CLI modules of Slicer",
        description="Writes two small programs and their descriptions into a folder. Name it in "
        "Slicer under Edit > Application Settings > Modules > Additional module paths.",
    )
    parser.add_argument("folder", type=folder, metavar="DIR", help="made if it is not there")
    parser.set_defaults(command="slicer_cli")


def _add_demo(commands):
    parser = commands.add_parser(
        "demo",
        help="segment a synthetic liver, and find the vessels' centrelines",
        description="Makes a synthetic CT of a liver, segments its vessels and finds their "
        "centrelines; tells their distance from the known ones.",
    )
    parser.add_argument(
        "--size", type=phantom_size, default=256, metavar="N", help="N x N x N voxels (256)"
    )
    parser.add_argument(
        "--seed-number",
        type=natural,
        default=0,
        metavar="S",
        help="another number, another liver (0)",
    )
    add_gaps(parser, 0)
    add_model(parser)
    add_centrelines(parser, islands=SMALL_ISLAND, tunnels=None)
    add_output(parser)
