"""The command line: `fuzzy-vessel`, or `python -m fuzzy_vessel`."""

import contextlib
import signal
import sys
import warnings
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from FuzzyVesselCoreLib.errors import Cancelled, FuzzyVesselError

from .arguments import make_parser

if TYPE_CHECKING:
    from .jobs import Report
    from .progress_bar import ProgressBar

# What is left of a job that was cancelled.
NOTHING = "nothing was written"
KEPT = {
    "cohort": "finished cases are kept, and the same command goes on with the others",
    "large": "finished blocks and components are kept, and the same command resumes the run",
}
TOO_LARGE = (
    "the memory does not suffice for this volume; crop it to the surroundings of the vessels, "
    "or use a machine with more memory."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process by default.

    Returns
    -------
    int
        The exit status: 0, 2 for input that cannot be used, 3 if cases of a cohort failed, or 130
        after Ctrl+C.
    """
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
            report = _run(options, progress)
    except (KeyboardInterrupt, Cancelled):
        return _ended(progress, f"cancelled; {KEPT.get(options.command, NOTHING)}.", 130)
    except FuzzyVesselError as error:
        return _ended(progress, f"error: {error}", 2)
    except MemoryError:
        return _ended(progress, f"error: {TOO_LARGE}", 2)
    progress.clear()
    for note in report.warnings:
        print(f"fuzzy-vessel: warning: {note}", file=sys.stderr)
    print("\n".join(report.lines))
    return report.status


def _ended(progress: "ProgressBar", message: str, code: int) -> int:
    progress.clear()
    print(f"fuzzy-vessel: {message}", file=sys.stderr)
    return code


def _run(options: Namespace, progress: "ProgressBar") -> "Report":
    from . import jobs

    return getattr(jobs, options.command)(options, progress)


class _termination_as_exit:
    """Let signals that end the process end the block as an exception.

    Half-written results are then removed. They are SIGTERM and, where the terminal was closed,
    SIGHUP; a signal that is ignored, as by nohup, stays so, and so does one that is handled by the
    program that Python runs in.
    """

    def __enter__(self):
        self._earlier = {}
        with contextlib.suppress(ValueError):  # where this is not the main thread
            for number in {signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._earlier[number] = signal.signal(number, _end)

    def __exit__(self, *_):
        for number, earlier in self._earlier.items():
            signal.signal(number, earlier)


def _end(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
