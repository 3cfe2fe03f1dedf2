"""Options of the commands that find centrelines."""

from argparse import ArgumentParser

from ..writing.tree_files import DEFAULT_FORMATS, FORMATS
from .values import formats, voxel


def add_centrelines(parser: ArgumentParser, *, islands: int, tunnels: float | None) -> None:
    """Add the options of a skeleton, with these sizes of what is cleaned away."""
    parser.add_argument(
        "--level",
        type=int,
        choices=(1, 2, 3),
        default=2,
        help="1: the core alone; 2: the branches, too; 3: also towards sharp corners (2)",
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
        "be given once for each component (the end of the thickest branch)",
    )
