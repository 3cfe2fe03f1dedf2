"""The long form of the tests of trust: one part, or all of them, within a time.

    python Testing/trust/run.py --part hostile-files --minutes 20
    python Testing/trust/run.py --part exactness --device cuda --cases 20000
    python Testing/trust/run.py --part hostile-files --seed 1 --case 4711

A case is made from the seed and its number alone, so it can be repeated by itself.
"""

import argparse
import importlib
import sys
import time
from pathlib import Path

TESTING = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTING))

from support.places import PACKAGE_FOLDERS  # noqa: E402
from trust.tally import Tally  # noqa: E402

PARTS = {
    "exactness": "exactness",
    "relative": "relative",
    "skeletons": "skeletons",
    "faults": "faults",
    "memory": "memory",
    "repeatability": "repeatability",
    "hostile-files": "hostile_files",
}


def main(arguments=None):
    """Run what was asked for; return 1 if there were findings, else 0."""
    sys.path[:0] = [str(path) for path in PACKAGE_FOLDERS]
    options = _parser().parse_args(arguments)
    parts = [options.part] if options.part else list(PARTS)
    found = 0
    for part in parts:
        found += run_part(part, options, 60 * options.minutes / len(parts))
    return min(found, 1)


def run_part(name, options, seconds):
    """Run one part for so many seconds and print its counts; return the number of findings."""
    tally = Tally()
    first = options.first if options.case is None else options.case
    most = options.cases if options.case is None else 1
    print(
        f"{name}: seed {options.seed}, cases from {first} on, device {options.device}", flush=True
    )
    end = time.monotonic() + seconds
    with part_of(name)(options) as part:
        end_of_cases = min(first + most, getattr(part, "count", first + most))
        for number in range(first, end_of_cases):
            if time.monotonic() > end:
                break
            try:
                tally.try_case(part.check, number)
            except KeyboardInterrupt:  # what was found so far is told
                break
        notes = list(getattr(part, "notes", list)())
    for line in (*tally.lines(), *notes):
        print(line, flush=True)
    return len(tally.findings)


def part_of(name):
    """The class `Part` of a part."""
    return importlib.import_module(f"trust.{PARTS[name]}").Part


def _parser():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=list(PARTS), help="one of them (all, one by one)")
    parser.add_argument("--minutes", type=float, default=10, help="at most so long together (10)")
    parser.add_argument("--cases", type=int, default=10**9, help="at most so many of a part")
    parser.add_argument("--seed", type=int, default=1, help="of the random cases (1)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case (0)")
    parser.add_argument("--case", type=int, help="this case alone")
    parser.add_argument(
        "--device", default="cpu", choices=("cpu", "cuda"), help="cpu or cuda (cpu)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
