"""Prints the measures; ``-v`` names the places behind them. Run in `Testing`: python -m house"""

import argparse
import os
import sys
from pathlib import Path

TESTING = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTING))
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from .applying import files_of_both  # noqa: E402
from .source import (  # noqa: E402
    LONG_FUNCTION,
    MANY_PARAMETERS,
    SMALL_FILE,
    functions_of,
    largest_folder,
    line_count,
    product_files,
)


def main() -> None:
    """Print every measure on a line."""
    parser = argparse.ArgumentParser(prog="python -m house", description=__doc__)
    parser.add_argument("-v", "--verbose", action="store_true", help="name the places")
    verbose = parser.parse_args().verbose
    paths = product_files()
    lines = {path: line_count(path) for path in paths}
    functions = [f for path in paths if path.suffix == ".py" for f in functions_of(path)]
    public = [f for f in functions if f.public]

    def say(what, figure, places=()):
        print(f"{what}: {figure}")
        for place in sorted(map(str, places)) if verbose else ():
            print(f"    {place}")

    folder, count = largest_folder(paths)
    first, second = files_of_both()
    say("files that Apply runs through, FuzzyConnectedGPU", len(first), first)
    say("files that Apply runs through, PotentialSkeleton", len(second), second)
    say("files in the largest folder", f"{count} ({folder})")
    say("files, lines of source", f"{len(paths)}, {sum(lines.values())}")
    small = [path for path in paths if lines[path] < SMALL_FILE]
    say(f"files under {SMALL_FILE} lines", len(small), small)
    long = [f"{f.place} {f.name} {f.lines}" for f in functions if f.lines > LONG_FUNCTION]
    say(f"functions over {LONG_FUNCTION} lines", len(long), long)
    long = [f"{f.place} {f.name} {f.body_lines}" for f in functions if f.body_lines > LONG_FUNCTION]
    say(f"functions over {LONG_FUNCTION} lines without their docstrings", len(long), long)
    many = [f"{f.place} {f.name} {f.parameters}" for f in functions if f.parameters > 10]
    say(f"functions of more than {MANY_PARAMETERS} parameters", len(many), many)
    untyped = [f"{f.place} {f.name}" for f in public if not f.typed]
    share = 1 - len(untyped) / len(public)
    say("typed public functions", f"{share:.0%} of {len(public)}", untyped)


if __name__ == "__main__":
    main()
