"""Runs the cases of a cohort: a process for each, so that a bad case stops no other."""

import glob
import os
import shutil
import subprocess
import sys
import threading
from argparse import Namespace
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NoReturn

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.folder_lock import FolderLock

from ..progress_bar import ProgressBar
from ..writing.report_file import REPORT
from .case_list import Case, read_cases
from .case_table import DONE, FAILED, LOG, CohortRecord

CASE = "-m", "fuzzy_vessel.cohort.case_process"  # arguments of Python
FIRST_LINES = 400  # letters of a message that the table shows


@dataclass(frozen=True)
class Cohort:
    """What is to be run.

    Attributes
    ----------
    cases : sequence of Case
    shared : sequence of str
        Options of `fuzzy-vessel run` for all cases.
    folder : Path
        Of the results; each case has a folder in it.
    workers : int
        Cases at a time.
    """

    cases: Sequence[Case]
    shared: Sequence[str]
    folder: Path
    workers: int


def cohort_of(options: Namespace) -> Cohort:
    """The cohort that the arguments ask for.

    Raises
    ------
    InputError
        The list cannot be used.
    """
    from ..arguments import make_parser
    from ..arguments.parser import Parser

    class SharedOptions(Parser):
        def error(self, message: str) -> NoReturn:
            raise InputError(f"--options: {message}; fuzzy-vessel run --help shows them.")

    cases, shared = read_cases(options.list), list(options.options)
    # What cannot be parsed is wrong for every case.
    parsed = make_parser(SharedOptions).parse_args(["run", "VOLUME", "--out=DIR", *shared])
    for name in ("seed", "seeds", "vessel", "background", "mask"):
        if getattr(parsed, name):
            raise InputError(f"--{name} belongs to one case: write it into the list.")
    if parsed.out != "DIR":
        raise InputError("each case has its folder in that of --out: give --out alone.")
    return Cohort(cases, shared, Path(options.out), options.workers)


def run_cohort(cohort: Cohort, progress: ProgressBar) -> CohortRecord:
    """Run every case that is not done yet; the table is written after each one.

    Raises
    ------
    InputError
        The folder cannot be used, or another run works in it.
    """
    with FolderLock(cohort.folder):
        try:
            record = CohortRecord.read(cohort.folder, [case.name for case in cohort.cases])
            return _run_all(cohort, record, progress)
        except OSError as error:
            reason = error.strerror or error
            raise InputError(
                f"{cohort.folder} cannot be written: {reason}; finished cases are kept: free some "
                "space and run the same again, or name another folder."
            ) from error


def _run_all(cohort: Cohort, record: CohortRecord, progress: ProgressBar) -> CohortRecord:
    """Run what is not done yet."""
    wanted = [case for case in cohort.cases if not _is_done(case, cohort, record)]
    for case in wanted:
        record.entries.pop(case.name, None)
    progress.stage(f"{len(wanted)} of {len(cohort.cases)} cases")
    processes = _Processes()
    with ThreadPoolExecutor(cohort.workers) as pool:
        tasks = {pool.submit(_run, case, cohort, processes): case for case in wanted}
        try:
            for count, task in enumerate(as_completed(tasks), 1):
                record.put(tasks[task].name, task.result())
                progress(count / len(tasks))
        except BaseException:
            processes.end()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    record.write()
    return record


def _is_done(case: Case, cohort: Cohort, record: CohortRecord) -> bool:
    known = record.entries.get(case.name, {})
    same = known.get("arguments") == _arguments(case, cohort) and known.get("files") == _stamps(
        case
    )
    return same and known["status"] == DONE and (cohort.folder / case.name / REPORT).exists()


def _arguments(case: Case, cohort: Cohort) -> list[str]:
    return [*case.arguments, *cohort.shared]


def _stamps(case: Case) -> list:
    """Sizes and times of a case's files, to run it again where one has changed."""
    found = []
    for path in case.inputs:
        # Not the methods of Path, which raise where a name cannot be that of a file.
        inside = sorted(path.rglob("*")) if os.path.isdir(path) else [path]
        for file in inside:
            status = file.stat() if os.path.exists(file) else None
            found.append([file.name, status and status.st_size, status and status.st_mtime_ns])
    return found


def _run(case: Case, cohort: Cohort, processes: "_Processes") -> dict[str, Any]:
    """One case: what the record keeps of it."""
    arguments, files = _arguments(case, cohort), _stamps(case)
    entry = {"arguments": arguments, "files": files, "status": FAILED, "seconds": 0.0}
    if case.problem:
        return {**entry, "error": case.problem}
    for rest in cohort.folder.glob(f".{glob.escape(case.name)}-partial-*"):
        shutil.rmtree(rest, ignore_errors=True)  # of a run that was killed
    begin = perf_counter()
    try:
        code, output = processes.run(["run", *arguments, f"--out={cohort.folder / case.name}"])
    except OSError as error:  # more text than a process takes
        return {**entry, "error": f"the case cannot be started: {error.strerror or error}"}
    entry["seconds"] = perf_counter() - begin
    (cohort.folder / f"{case.name}{LOG}").write_text(output, encoding="utf-8")
    if code == 0:
        return {**entry, "status": DONE, "error": ""}
    lines = [line for line in output.splitlines() if "error:" in line] or output.splitlines()[-1:]
    said = lines[-1].partition("error: ")[2] or lines[-1] if lines else ""
    return {**entry, "error": said[:FIRST_LINES] or f"the process ended with status {code}"}


class _Processes:
    """The processes that run, so that all can be ended."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen] = set()
        self._lock = threading.Lock()
        self._ended = False

    def run(self, arguments: Sequence[str]) -> tuple[int, str]:
        """Exit status and output of this program in a process of its own."""
        with self._lock:
            if self._ended:
                return 130, "cancelled"
            process = subprocess.Popen(
                [sys.executable, *CASE, *arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.PIPE,  # open as long as this process is
                text=True,
                encoding="utf-8",
                errors="replace",
            )
            self._running.add(process)
        with process:
            assert process.stdout is not None
            output = process.stdout.read()
            process.wait()  # before its input is closed, which ends it
        with self._lock:
            self._running.discard(process)
        return process.returncode, output

    def end(self) -> None:
        """Have all processes end, which removes what they have half written."""
        with self._lock:
            self._ended = True
            for process in self._running:
                process.terminate()
