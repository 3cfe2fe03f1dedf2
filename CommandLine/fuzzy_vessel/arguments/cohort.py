"""The arguments of `fuzzy-vessel cohort`."""

import argparse
import shlex
from typing import Any

from .options import add_out
from .values import count

EXAMPLE = """\
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


def add_cohort(commands: Any) -> None:
    """Add the command to the parser's subparsers."""
    parser = commands.add_parser(
        "cohort",
        help="segment many volumes, find their centrelines, and make one table",
        description="Does what run does for each case of a list, and makes one table of all, "
        "cases.csv. A case that fails stops no other.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("list", metavar="LIST", help="the cases, a CSV file")
    add_out(parser, "folder for all results")
    parser.add_argument("--workers", type=count, default=1, metavar="N", help="cases at a time (1)")
    parser.add_argument(
        "--options",
        type=shlex.split,
        default=[],
        metavar="TEXT",
        help="options of run for all cases, in quotes, after =",
    )
