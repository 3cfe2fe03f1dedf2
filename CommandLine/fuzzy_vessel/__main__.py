"""The command line: `fuzzy-vessel`, or `python -m fuzzy_vessel`."""

import contextlib
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import NoReturn

from FuzzyVesselCoreLib.errors import Cancelled, FuzzyVesselError

from .arguments import make_parser

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
    """Run the command line with these arguments, those of the process by default.

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
    from . import jobs
    from .progress_bar import ProgressBar

    progress = ProgressBar()
    status, message = 2, ""
    try:
        with termination_as_exit(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the user should know comes with the result
            report = getattr(jobs, options.command)(options, progress)
    except (KeyboardInterrupt, Cancelled):
        status, message = 130, f"cancelled; {KEPT.get(options.command, NOTHING)}."
    except FuzzyVesselError as error:
        message = f"error: {error}"
    except MemoryError:
        message = f"error: {TOO_LARGE}"
    except OSError as error:
        message = f"error: {error.filename or 'a file'}: {error.strerror or error}."
    progress.clear()
    if message:
        print(f"fuzzy-vessel: {message}", file=sys.stderr)
        return status
    for note in report.warnings:
        print(f"fuzzy-vessel: warning: {note}", file=sys.stderr)
    print("\n".join(report.lines))
    return report.status


@contextlib.contextmanager
def termination_as_exit() -> Iterator[None]:
    """Let SIGTERM, and SIGHUP of a closed terminal, end the block as an exception.

    Half-written results are then removed. A signal that is ignored, as by nohup, stays so.
    """
    earlier = {}
    with contextlib.suppress(ValueError):  # where this is not the main thread
        for number in {signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}:
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                earlier[number] = signal.signal(number, _end)
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _end(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
