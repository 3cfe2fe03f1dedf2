"""The command line: `fuzzy-vessel`, or `python -m fuzzy_vessel`."""

import contextlib
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from FuzzyVesselCoreLib.errors import Cancelled, FuzzyVesselError

from .arguments import make_parser

# Commands whose job is in a module of its own, a function of the same name; others are in `jobs`.
MODULES = ("cohort", "large", "slicer_cli")
# What remains of a cancelled job.
NOTHING = "nothing was written"
KEPT = {
    "cohort": "finished cases are kept, and the same command goes on with the others",
    "large": "finished blocks and labels are kept, and the same command resumes the run",
}
TOO_LARGE = "the memory does not suffice for this volume; crop it, or use a larger machine."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line with these arguments, those of the process by default.

    Returns the exit status: 0, 2 for input that cannot be used, 3 if cases of a cohort failed, or
    130 after Ctrl+C.
    """
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.version:
        from .report import version

        print(f"fuzzy-vessel {version()}")
        return 0
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    from .progress import Progress

    progress = Progress()
    module = options.command if options.command in MODULES else "jobs"
    job = getattr(import_module(f".{module}", __package__), options.command)
    left = KEPT.get(options.command, NOTHING)
    status, report = done("fuzzy-vessel", lambda: job(options, progress), progress.clear, left)
    if report is None:
        return status
    for note in report.warnings:
        print(f"fuzzy-vessel: warning: {note}", file=sys.stderr)
    print("\n".join(report.lines))
    return report.status


def done(
    program: str, work: Callable[[], Any], end: Callable[[], Any], left: str = NOTHING
) -> tuple[int, Any]:
    """Exit status and result of some work; prints one line if there is no result.

    `end` is called after the work, before anything is said; `left` is what a cancelled one leaves.
    """
    try:
        end_by_exceptions()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the user should know comes with the result
            return 0, work()
    except (KeyboardInterrupt, Cancelled):
        status, message = 130, f"cancelled; {left}."
    except FuzzyVesselError as error:
        status, message = 2, f"error: {error}"
    except MemoryError:
        status, message = 2, f"error: {TOO_LARGE}"
    except OSError as error:
        status, message = 2, f"error: {error.filename or 'a file'}: {error.strerror or error}."
    finally:
        end()
    print(f"{program}: {message}", file=sys.stderr)
    return status, None


def end_by_exceptions() -> None:
    """Let SIGTERM, and SIGHUP of a closed terminal, be exceptions: half-written results go away.

    A signal that is ignored, as by nohup, stays so.
    """
    with contextlib.suppress(ValueError):  # where this is not the main thread
        for number in {signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, lambda number, _frame: sys.exit(128 + number))


if __name__ == "__main__":
    sys.exit(main())
