"""The arguments of the command line, checked as far as they can be by themselves."""

import argparse

from .writing.tree_files import DEFAULT_FORMATS, FORMATS

EXAMPLE = """\
example:
  fuzzy-vessel segment ct.nrrd --seed 265,206,70 --seed 174,274,73 --out vessels

Seeds are voxel indices I,J,K, counted from 0, as Slicer shows them.
"""
EXAMPLES = """\
examples:
  fuzzy-vessel segment ct.nrrd --seed 265,206,70 --seed 174,274,73 --out vessels
  fuzzy-vessel skeleton vessels/labelmap.nrrd --out centrelines
  fuzzy-vessel run ct.nrrd --seed 265,206,70 --seed 174,274,73 --out both
  fuzzy-vessel benchmark --quick

Seeds are voxel indices I,J,K, counted from 0, as Slicer shows them.

This is research software: not a medical device, and not for diagnosis.
"""
# A cube of three voxels: in the centrelines of a segmentation, smaller islands are noise.
SMALL_ISLAND = 27


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with the arguments."""

    def error(self, message):
        self.exit(2, f"{self.prog}: error: {message}; {self.prog} --help shows the options\n")


class Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser, *_):
        from .report import version

        print(f"fuzzy-vessel {version()}")
        parser.exit(0)


def voxel(text):
    """Parse I,J,K."""
    try:
        i, j, k = (int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a voxel I,J,K such as 265,206,70"
        ) from None
    return i, j, k


def count(text):
    """Parse a whole number from 1 up."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return number


def share(text):
    """Parse a number from 0 to 1."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return number


def formats(text):
    """Parse a list of formats, all or none."""
    if text in ("all", "none"):
        return FORMATS if text == "all" else ()
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in FORMATS]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"{unknown[0]!r} is no format: use {', '.join(FORMATS)}, all or none"
        )
    return tuple(dict.fromkeys(names))


def threshold(text):
    """Parse a number from 0 to 1, or auto (None)."""
    return None if text == "auto" else share(text)


def make_parser():
    """The parser of all arguments."""
    parser = Parser(
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
    _add_benchmark(commands)
    return parser


def _add_segment(commands):
    parser = commands.add_parser(
        "segment",
        help="segment a volume from seeds",
        description="Segments the vessels that the seeds lie in.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_inputs(parser)
    _add_segmentation(parser)
    _add_output(parser)


def _add_skeleton(commands):
    parser = commands.add_parser(
        "skeleton",
        help="find the centrelines of a labelmap",
        description="Finds the centrelines of the vessels, or of any object, in a labelmap.",
    )
    parser.add_argument(
        "labelmap",
        metavar="LABELMAP",
        help=".nrrd, .nhdr, .mha, .mhd, .nii or .nii.gz with the object's voxels",
    )
    parser.add_argument(
        "--label", type=int, metavar="N", help="take the voxels of this number (all but 0)"
    )
    _add_centrelines(parser, islands=0, tunnels=0.0)
    _add_output(parser)


def _add_run(commands):
    parser = commands.add_parser(
        "run",
        help="segment a volume from seeds, and find the centrelines",
        description="Segments the vessels that the seeds lie in, and finds their centrelines.",
        epilog=EXAMPLE.replace("segment", "run"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_inputs(parser)
    _add_segmentation(parser)
    _add_centrelines(parser, islands=SMALL_ISLAND, tunnels=None)
    _add_output(parser)


def _add_inputs(parser):
    parser.add_argument(
        "volume",
        metavar="VOLUME",
        help=".nrrd, .nhdr, .mha, .mhd, .nii, .nii.gz, or a folder with one DICOM series",
    )
    parser.add_argument(
        "--seed",
        type=voxel,
        action="append",
        default=[],
        metavar="I,J,K",
        help="a voxel inside a vessel; may be given several times",
    )
    parser.add_argument("--seeds", metavar="FILE", help="seeds as Slicer saves points (.mrk.json)")
    parser.add_argument(
        "--automatic-seeds",
        type=count,
        default=0,
        metavar="N",
        help="find up to N seeds where the contrast in the volume or mask is most tubular; look at "
        "them in the picture",
    )
    parser.add_argument(
        "--background",
        type=voxel,
        action="append",
        default=[],
        metavar="I,J,K",
        help="a voxel that is no vessel: the leak that it sits in is taken away",
    )
    parser.add_argument("--mask", metavar="FILE", help="stay where this volume is not 0")
    parser.add_argument(
        "--frame", type=int, metavar="N", help="which frame of a 4D file, counted from 0"
    )


def _add_demo(commands):
    parser = commands.add_parser(
        "demo",
        help="segment a synthetic liver, and find the vessels' centrelines",
        description="Makes a synthetic CT of a liver, segments its vessels and finds their "
        "centrelines; says how far they are off the known ones.",
    )
    parser.add_argument("--size", type=int, default=256, metavar="N", help="N x N x N voxels (256)")
    parser.add_argument(
        "--seed-number", type=int, default=0, metavar="S", help="another number, another liver (0)"
    )
    _add_gaps(parser, 0)
    _add_model(parser)
    _add_centrelines(parser, islands=SMALL_ISLAND, tunnels=None)
    _add_output(parser)


def _add_benchmark(commands):
    parser = commands.add_parser(
        "benchmark",
        help="time the solvers on this machine",
        description="Times the solvers on this machine beside their goals, and runs the tables of "
        "the papers; every result is checked against the reference. The click tables measure how "
        "good a segmentation from clicks is. All tables together take about an hour, most of it in "
        "the papers' serial solver.",
    )
    parser.add_argument("--quick", action="store_true", help="small volumes: under a minute")
    parser.add_argument(
        "--table",
        action="append",
        metavar="NAME",
        help="one table; may be given several times; an unknown NAME lists all (all)",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write the figures to this file, after each table; tables of an earlier run on this "
        "machine stay in it",
    )
    parser.add_argument(
        "--plots",
        metavar="FOLDER",
        help="run nothing: draw the tables of --json into this folder and print them in Markdown",
    )
    parser.add_argument(
        "--repeats", type=int, metavar="N", help="runs after the warm-up (7; quick: 3)"
    )
    parser.add_argument(
        "--limit",
        type=float,
        metavar="SECONDS",
        help="direct sums of the field that take longer are estimated from a part (60; quick: 0.5)",
    )
    parser.add_argument(
        "--processes",
        type=int,
        default=1,
        metavar="N",
        help="serial runs of the papers' tables at a time: sooner done, a little slower each (1)",
    )
    parser.add_argument(
        "--data",
        metavar="FOLDER",
        help="folder with the CT 3D-IRCADb-01 as the tests use it; for the click tables also with "
        "its masks and with vessels/*.npz",
    )
    for name, of in (
        ("method", "ours and other programs"),
        ("case", "scans of --data, or phantom"),
    ):
        parser.add_argument(
            f"--{name}",
            action="append",
            metavar="NAME",
            help=f"of the click tables, {of}; may be given several times; an unknown NAME lists "
            "all (all)",
        )
    parser.add_argument(
        "--device", default="auto", metavar="D", help="auto, cpu, cuda or cuda:1 (auto)"
    )


def _add_segmentation(parser):
    parser.add_argument(
        "--threshold",
        type=threshold,
        default=None,
        metavar="auto|X",
        help="connectedness from which on a voxel belongs to the vessels, 0 to 1 (auto)",
    )
    parser.add_argument(
        "--cut",
        type=share,
        metavar="X",
        help="of the model affinity: ignore affinities below X: faster, exact from X on (0)",
    )
    _add_gaps(parser, 0)
    _add_model(parser)


def _add_gaps(parser, rounds):
    parser.add_argument(
        "--fill-gaps",
        type=int,
        default=rounds,
        metavar="N",
        help="add voxels that the vessels surround, in N rounds: what noise has left out of wide "
        f"vessels ({rounds})",
    )


def _add_model(parser):
    parser.add_argument(
        "--model",
        choices=("contrast", "affinity"),
        help="contrast: to the surroundings, connected from the seeds; affinity: to the seeds, as "
        "in the papers (contrast; affinity where one of its options is given)",
    )
    parser.add_argument(
        "--border",
        choices=("drawn", "half"),
        help="of the model contrast: where experts draw it, or at half the contrast (drawn)",
    )
    parser.add_argument(
        "--radius",
        type=int,
        metavar="N",
        help="of the model affinity: voxels round each seed that it is estimated from (2)",
    )
    parser.add_argument(
        "--side",
        choices=("both", "bright", "dark"),
        help="of the model affinity: bright: intensities above the seeds' mean count as vessel, "
        "too (both)",
    )
    parser.add_argument(
        "--solver",
        metavar="NAME",
        help="of the model affinity: how it is computed; an unknown NAME lists all (exact)",
    )


def _add_centrelines(parser, *, islands, tunnels):
    parser.add_argument(
        "--level",
        type=int,
        choices=(1, 2, 3),
        default=2,
        help="1: the core alone; 2: the limbs, too; 3: also towards sharp places (2)",
    )
    parser.add_argument(
        "--strength",
        type=int,
        default=6,
        metavar="M",
        help="exponent of the repelling force, 3 to 9 (6)",
    )
    parser.add_argument(
        "--charge-distance",
        type=int,
        metavar="D",
        help="voxels by which the charges lie outside the surface (0 to 2, by the width)",
    )
    parser.add_argument(
        "--drop-islands",
        type=int,
        default=islands,
        metavar="N",
        help=f"leave components of fewer voxels out, never the largest ({islands})",
    )
    parser.add_argument(
        "--close-tunnels",
        type=float,
        default=tunnels,
        metavar="MM",
        help="close narrow tunnels first, none wider than so many mm "
        + ("(the width of two voxels)" if tunnels is None else "(0)"),
    )
    _add_trees(parser)


def _add_trees(parser):
    parser.add_argument(
        "--formats",
        type=formats,
        default=DEFAULT_FORMATS,
        metavar="NAMES",
        help="of the centrelines for other programs, with commas between: "
        f"{', '.join(FORMATS)}, all or none ({','.join(DEFAULT_FORMATS)})",
    )
    parser.add_argument(
        "--root",
        type=voxel,
        action="append",
        default=[],
        metavar="I,J,K",
        help="where a tree begins: the end of the centrelines that is nearest to this voxel; may "
        "be given once a piece (the end of the thickest branch)",
    )


def _add_output(parser):
    parser.add_argument(
        "--device", default="auto", metavar="D", help="auto, cpu, cuda or cuda:1 (auto)"
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for the results")
