"""The arguments of `fuzzy-vessel large`."""

import argparse
from typing import Any

from .centreline_options import add_centrelines
from .options import add_gaps, add_out, add_threshold, add_voxels
from .values import affinity, count, gigabytes, share, spacing

EXAMPLE = """\
example:
  fuzzy-vessel large brain.zarr --affinity 220,60,30 --seed 265,206,70 --out vessels
  fuzzy-vessel large levels.zarr --threshold 0.4 --components seeds --seed 265,206,70 --out vessels
  fuzzy-vessel large levels.zarr --min-voxels 100 --centrelines --out vessels
  fuzzy-vessel large vessels.ome.zarr --centrelines --out centrelines

levels.zarr is what an earlier run with --affinity has written, or the library's connectedness over
blocks. A run that was ended goes on where it stopped if the same command is given again.
"""


def add_large(commands: Any) -> None:
    """Add the command to the parser's subparsers."""
    parser = commands.add_parser(
        "large",
        help="labels and centrelines of a volume that does not fit in memory",
        description="Makes an OME-Zarr label image from a fuzzy scene that does not fit in memory, "
        "block by block, and the centrelines, component by component: the same, bit for bit, as "
        "of the whole.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "scene",
        metavar="SCENE",
        help="Zarr or OME-Zarr folder, or .npy: levels (uint16) or values (float32) of "
        "connectedness; or a labelmap, whose object is where it is not 0; or with --affinity the "
        "volume",
    )
    parser.add_argument(
        "--affinity",
        type=affinity,
        metavar="MEAN,SIGMA,GRADIENT",
        help="compute connectedness from every --seed first, by the affinity of the papers: "
        "intensity of the vessels and its spread, and the spread of differences between neighbours",
    )
    add_threshold(parser)
    parser.add_argument(
        "--cut", type=share, default=0.0, metavar="X", help="affinities below it count as none (0)"
    )
    _add_components(parser)
    add_voxels(
        parser,
        "--background",
        "a voxel that is not in a vessel: it raises the automatic threshold",
    )
    add_gaps(parser, 0)
    parser.add_argument("--mask", metavar="PATH", help="paths and gaps stay where this is not 0")
    parser.add_argument(
        "--spacing", type=spacing, metavar="I,J,K", help="size of a voxel in mm (the image's, or 1)"
    )
    parser.add_argument(
        "--missing-chunks",
        choices=("auto", "error", "fill"),
        default="auto",
        help="chunks of the scene that have no file: error or the fill value (auto: the fill value "
        "unless the file says that there were any, or a seed lies in one)",
    )
    _add_work(parser)
    parser.add_argument(
        "--topology", action="store_true", help="count loops and cavities of the labels, too"
    )
    parser.add_argument(
        "--centrelines", action="store_true", help="find the centrelines, too; numbers components"
    )
    add_centrelines(parser, islands=0, tunnels=0.0)
    parser.add_argument(
        "--device", default="auto", metavar="D", help="auto, cpu or cuda (auto); labels: the CPU"
    )
    add_out(parser)


def _add_components(parser):
    parser.add_argument(
        "--components",
        choices=("all", "largest", "seeds"),
        default="all",
        help="all, the largest, or those that a --seed lies in (all)",
    )
    add_voxels(parser, "--seed", "a voxel in a vessel")
    parser.add_argument(
        "--min-voxels", type=count, default=1, metavar="N", help="leave smaller components out (1)"
    )
    parser.add_argument(
        "--numbered", action="store_true", help="give each component a number of its own"
    )


def _add_work(parser):
    parser.add_argument(
        "--block", type=count, default=512, metavar="N", help="voxels along a block's sides (512)"
    )
    parser.add_argument(
        "--workers", type=count, default=1, metavar="N", help="blocks at a time (1)"
    )
    parser.add_argument(
        "--memory-limit",
        type=gigabytes,
        metavar="GB",
        help="refuse what may need more, before it begins (four fifths of the machine's)",
    )
