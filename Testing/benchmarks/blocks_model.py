"""The model of runs over blocks, fitted to stored runs on one card, beside runs on several cards.

    python Testing/benchmarks/blocks_model.py [FILE ...] [--side 10000]

FILEs are results of `fuzzy-vessel benchmark --table blocks --table blocks-1e10 --json FILE`; by
default those of this project on one and on two cards. First what a model that knows runs on one
card alone says of the others, then one that was fitted to all, and the volume that it predicts.
"""

import argparse
from pathlib import Path

from fuzzy_vessel.benchmark.blocks import prediction_table
from fuzzy_vessel.benchmark.blocks.cost_model import fit
from fuzzy_vessel.benchmark.results import Table, read
from fuzzy_vessel.benchmark.table_text import plain_text

STORED = Path(__file__).resolve().parents[2] / "Resources" / "benchmarks"
TABLES = "blocks", "blocks-1e10"


def runs_on_cards(files: list[Path]) -> list[dict]:
    """The rows of runs over blocks on cards."""
    tables = [read(file)[1] for file in files]
    rows = [row for found in tables for name in TABLES if name in found for row in found[name].rows]
    return [row for row in rows if "workers" in row and row["device"] != "CPU"]


def foretold(rows: list[dict]) -> Table:
    """Runs on several cards beside the model that was fitted to those on one."""
    costs = fit(prediction_table.run_of(row) for row in rows if row["workers"] == 1)
    told = [
        prediction_table.beside(costs, prediction_table.run_of(row), row)
        for row in rows
        if row["workers"] > 1
    ]
    for row in told:
        row["check"] = f"model / measured {row['seconds'] / row['measured']:.2f}"
    columns = dict(prediction_table.COLUMNS, check="")
    return Table("Foretold from runs on one card", columns, told)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--side", type=int, default=10000, help="voxels along each axis (10000)")
    options = parser.parse_args()
    rows = runs_on_cards(options.files or [STORED / "h200.json", STORED / "h200x2.json"])
    print(plain_text(foretold(rows)))
    shape = (options.side,) * 3
    print(plain_text(prediction_table.table_of(rows, shape, False, "the files hold no such run")))


if __name__ == "__main__":
    main()
