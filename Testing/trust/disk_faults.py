"""Faults of the disk: what is there already survives, and nothing half-written stays behind."""

import hashlib
import io
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np

from support.image_files import write_nrrd
from support.places import PACKAGE_FOLDERS

from .no_rendering import no_rendering
from .tally import Finding

# Bytes after which a file cannot grow: each fails in another file of the results, or at its end.
LIMITS = (0, 100, 400, 1500, 3000, 6000, 12000, 25000, 50000, 100000, 10**9)
# How many files the process has written when it is killed.
KILLED_AFTER = (0, 1, 3, 6, 9)


def cases():
    """Each fault for each command."""
    for command in ("segment", "skeleton", "run"):
        for limit in LIMITS:
            yield "disk: full", _bear_full_disk, (command, limit)
        for name in VANISHING:
            yield f"disk: {name}", _bear_vanishing, (command, name)
    for number in KILLED_AFTER:
        yield "disk: killed while writing", _bear_kill, (number,)


class Workplace:
    """A folder with a small scan, a labelmap and an earlier result, which is to survive."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="disk-faults-"))
        vessel = np.zeros((10, 12, 14), bool)
        vessel[3:8, 4:9, :] = True
        scan = np.where(vessel, 200, 100) + np.random.default_rng(1).normal(0, 5, vessel.shape)
        write_nrrd(self.folder / "scan.nrrd", scan.astype(np.int16))
        write_nrrd(self.folder / "vessel.nrrd", vessel.astype(np.uint8))
        self.out = self.folder / "results"
        self.out.mkdir()
        (self.out / "report.json").write_text(
            '{"program": "fuzzy-vessel", "files": ["report.json", "old.txt"]}'
        )
        (self.out / "old.txt").write_text("an earlier result")
        self.before = self.state()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def state(self):
        """All files with a digest of their content."""
        return {
            str(path.relative_to(self.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in self.folder.rglob("*")
            if path.is_file()
        }

    def arguments(self, command):
        """Of the command line."""
        name = "vessel.nrrd" if command == "skeleton" else "scan.nrrd"
        seeds = [] if command == "skeleton" else ["--seed", "7,6,5"]
        return [command, str(self.folder / name), *seeds, "--device", "cpu", "--out", str(self.out)]


def _run(arguments):
    """The command line in this process, but for the rendering in 3D; exit code and error."""
    from fuzzy_vessel.__main__ import main

    said = io.StringIO()
    with no_rendering(), redirect_stderr(said), redirect_stdout(io.StringIO()):
        return main(arguments), said.getvalue()


def _bear_full_disk(command, limit):
    with Workplace() as place:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (min(limit, hard) if hard >= 0 else limit, hard))
        try:
            code, said = _run(place.arguments(command))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        _check_end(place, code, said, f"{command} with files of at most {limit} bytes")


def _check_end(place, code, said, where):
    """Either all is there, or an error was told and all is as it was."""
    now = place.state()
    if code == 0:
        if "results/old.txt" in now or "results/scene.mrb" not in now:
            raise Finding(f"{where}: it ended well, but the results are not there")
        _check_whole(place, where)
        return
    if code != 2 or len(said.strip().splitlines()) != 1:
        raise Finding(f"{where}: exit code {code}: {said[-300:]}")
    if now != place.before:
        raise Finding(f"{where}: {sorted(set(now.items()) ^ set(place.before.items()))[:3]}")


def _check_whole(place, where):
    from fuzzy_vessel.writing.completeness import is_whole

    for path in place.out.iterdir():
        if path.suffix in (".nrrd", ".mrb", ".json", ".vtp") and not is_whole(path):
            raise Finding(f"{where}: {path.name} is not whole")


def _remove_partial(place):
    for path in place.folder.glob(".results-partial-*"):
        shutil.rmtree(path)


def _remove_temporary(place):
    tempfile.tempdir = str(place.folder / "gone")


VANISHING = {
    "the folder of the results vanishes": lambda place: shutil.rmtree(place.folder),
    "the unfinished results vanish": _remove_partial,
    "the temporary folder vanishes": _remove_temporary,
}


def _bear_vanishing(command, name):
    from fuzzy_vessel.progress_bar import ProgressBar

    earlier, temporary = ProgressBar.__call__, tempfile.tempdir

    def vanish(bar, fraction):
        if not done:
            done.append(True)
            VANISHING[name](place)
        return True

    done = []
    with Workplace() as place:
        ProgressBar.__call__ = vanish
        try:
            code, said = _run(place.arguments(command))
        finally:
            ProgressBar.__call__, tempfile.tempdir = earlier, temporary
        where = f"{command}, {name}"
        if not done:
            raise Finding(f"{where}: it did not happen")
        if place.folder.exists():
            _check_end(place, code, said, where)
        elif code != 2 or len(said.strip().splitlines()) != 1:
            raise Finding(f"{where}: exit code {code}: {said[-300:]}")


def _bear_kill(number):
    """Kill the process when it has written so many files; the earlier result is still whole."""
    with Workplace() as place:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, PACKAGE_FOLDERS))}
        process = subprocess.Popen(
            [sys.executable, "-m", "fuzzy_vessel", *place.arguments("run")],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while process.poll() is None:
            partial = [p for p in place.folder.glob(".results-partial-*/**/*") if p.is_file()]
            if len(partial) >= max(number, 1):
                break
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
        now = {k: v for k, v in place.state().items() if not k.startswith(".results-partial-")}
        if now != place.before and "results/scene.mrb" not in now:
            raise Finding(f"killed after {number} files: the earlier result is damaged")
        code, said = _run(place.arguments("run"))
        if code != 0:
            raise Finding(f"killed after {number} files: the next run ends with {code}: {said}")
