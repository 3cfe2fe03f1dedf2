"""The command line: `fuzzy-vessel`, or `python -m FuzzyVesselCommand`."""

import argparse
import contextlib
import signal
import sys
import warnings

from FuzzyVesselCommon.errors import Cancelled, FuzzyVesselError

EXAMPLE = """\
example:
  fuzzy-vessel segment ct.nrrd --seed 265,206,70 --seed 174,274,73 --out vessels

Seeds are voxel indices I,J,K, counted from 0, as Slicer shows them.
"""
TOO_LARGE = (
    "the memory does not suffice for this volume; crop it to the surroundings of the vessels, "
    "or use a machine with more memory."
)


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


def share(text):
    """Parse a number from 0 to 1."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return number


def threshold(text):
    """Parse a number from 0 to 1, or auto (None)."""
    return None if text == "auto" else share(text)


def make_parser():
    """The parser of all arguments."""
    parser = Parser(
        prog="fuzzy-vessel",
        description="Segments vessels in CT and MR scans from seeds, by fuzzy connectedness.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_segment(commands)
    _add_demo(commands)
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
        default=0.0,
        metavar="X",
        help="ignore affinities below X: faster, exact from X on (0)",
    )
    _add_common(parser)


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
        "--background",
        type=voxel,
        action="append",
        default=[],
        metavar="I,J,K",
        help="a voxel that must stay outside: the threshold is set above it",
    )
    parser.add_argument("--mask", metavar="FILE", help="stay where this volume is not 0")
    parser.add_argument(
        "--frame", type=int, metavar="N", help="which frame of a 4D file, counted from 0"
    )


def _add_demo(commands):
    parser = commands.add_parser(
        "demo",
        help="segment a synthetic liver",
        description="Makes a synthetic CT of a liver and segments its vessels.",
    )
    parser.add_argument("--size", type=int, default=256, metavar="N", help="N x N x N voxels (256)")
    parser.add_argument(
        "--seed-number", type=int, default=0, metavar="S", help="another number, another liver (0)"
    )
    _add_common(parser)


def _add_common(parser):
    parser.add_argument(
        "--radius",
        type=int,
        default=2,
        metavar="N",
        help="voxels round each seed that the affinity is estimated from; 1 for thin vessels (2)",
    )
    parser.add_argument(
        "--side",
        choices=("both", "bright", "dark"),
        default="both",
        help="bright: intensities above the seeds' mean count as vessel too (both)",
    )
    parser.add_argument(
        "--solver",
        default="exact",
        metavar="NAME",
        help="how it is computed; an unknown NAME lists all (exact)",
    )
    parser.add_argument(
        "--device", default="auto", metavar="D", help="auto, cpu, cuda or cuda:1 (auto)"
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for the results")


def main(arguments=None):
    """Run the command line; return the exit code: 0, 2 for input that cannot be used, or 130."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    from .progress_bar import ProgressBar

    progress = ProgressBar()
    try:
        with _termination_as_exit(), warnings.catch_warnings():
            # What the user should know comes back with the result.
            warnings.simplefilter("ignore")
            lines, notes = _run(options, progress)
    except (KeyboardInterrupt, Cancelled):
        return _ended(progress, "cancelled; nothing was written.", 130)
    except FuzzyVesselError as error:
        return _ended(progress, f"error: {error}", 2)
    except MemoryError:
        return _ended(progress, f"error: {TOO_LARGE}", 2)
    progress.clear()
    for note in notes:
        print(f"fuzzy-vessel: warning: {note}", file=sys.stderr)
    print("\n".join(lines))
    return 0


def _ended(progress, message, code):
    progress.clear()
    print(f"fuzzy-vessel: {message}", file=sys.stderr)
    return code


def _run(options, progress):
    from . import jobs

    return (
        jobs.demo(options, progress)
        if options.command == "demo"
        else jobs.segment(options, progress)
    )


class _termination_as_exit:
    """Let SIGTERM end the block as an exception, so that half-written results are removed."""

    def __enter__(self):
        self._earlier = None
        with contextlib.suppress(ValueError):  # where this is not the main thread
            self._earlier = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    def __exit__(self, *_):
        if self._earlier is not None:
            signal.signal(signal.SIGTERM, self._earlier)


if __name__ == "__main__":
    sys.exit(main())
