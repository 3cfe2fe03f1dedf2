"""The arguments of `fuzzy-vessel benchmark`."""

from typing import Any

# Option, metavar and help of what is text.
TEXTS = (
    (
        "json",
        "FILE",
        "write the figures to this file, after each table; tables of an earlier run on this "
        "machine stay in it",
    ),
    (
        "plots",
        "FOLDER",
        "run nothing: draw the tables of --json into this folder and print them in Markdown",
    ),
    (
        "data",
        "FOLDER",
        "folder with the CT 3D-IRCADb-01 as the tests use it; for the click tables also with its "
        "masks and with vessels/*.npz",
    ),
)
REPEATED = "; may be given several times; an unknown NAME lists all (all)"
# Option and help of names, of which there may be several.
NAMES = (
    ("table", "one table"),
    ("method", "of the click tables, ours and other programs"),
    ("case", "of the click tables, scans of --data, or phantom"),
)


def add_benchmark(commands: Any) -> None:
    """Add the command to the parser's subparsers."""
    parser = commands.add_parser(
        "benchmark",
        help="time the solvers on this machine",
        description="Times the solvers on this machine beside their goals, and runs the tables of "
        "the papers; every result is checked against the reference. The click tables measure how "
        "good a segmentation from clicks is. All tables together take about an hour, most of it in "
        "the papers' serial solver.",
    )
    parser.add_argument("--quick", action="store_true", help="small volumes: under a minute")
    for name, text in NAMES:
        parser.add_argument(f"--{name}", action="append", metavar="NAME", help=text + REPEATED)
    for name, metavar, text in TEXTS:
        parser.add_argument(f"--{name}", metavar=metavar, help=text)
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
        "--device", default="auto", metavar="D", help="auto, cpu, cuda or cuda:1 (auto)"
    )
