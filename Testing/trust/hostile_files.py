"""Hostile files: whatever the command line is given to read, it says so or reads it."""

import dataclasses
import json
import os
import selectors
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from support.places import PACKAGE_FOLDERS

from .hostile_cases import make_case
from .tally import Finding

CHILD = Path(__file__).with_name("reading_child.py")
# The time that the child computes is limited to the former; the latter, for a child that hangs,
# leaves room for the other work of a busy machine.
LONGEST_S = 10
PATIENCE_S = 120
START_S = 300


class Part:
    """Each case is a file that was spoilt; a child process reads it within a sandbox folder.

    The child must answer within 10 s of computing, without a crash, within the memory that the
    header honestly allows, and must not leave a file in the sandbox but its results.
    """

    def __init__(self, options):
        self._seed = options.seed
        self._child = None
        self.slowest = 0.0, None

    def __enter__(self):
        self._sandbox = Path(tempfile.mkdtemp(prefix="hostile-files-"))
        for name in ("case", "outside", "tmp", "work"):
            (self._sandbox / name).mkdir()
        self._said = tempfile.TemporaryFile()
        self._start_child()
        return self

    def __exit__(self, *_):
        self._end_child()
        self._said.close()
        shutil.rmtree(self._sandbox, ignore_errors=True)

    def check(self, number):
        """Let the child read case `number`; return what came of it, or raise `Finding`."""
        folder = self._sandbox / "case"
        case = make_case(self._seed, number, folder)
        made = self._listing()
        try:
            answer = self._ask(dataclasses.asdict(case))
            if answer["seconds"] > self.slowest[0]:
                self.slowest = answer["seconds"], number
            stray = self._listing() - made
            if stray:
                raise Finding(f"{case.kind} wrote {sorted(stray)[:3]}")
            if answer["seconds"] > LONGEST_S:
                raise Finding(f"{case.kind} {Path(case.path).name}: {answer['seconds']:.1f} s")
            if answer["outcome"] == "finding":
                raise Finding(f"{case.kind} {Path(case.path).name}: {answer['told']}")
            return answer["outcome"]
        finally:
            self._clear()

    def notes(self):
        """The slowest case."""
        yield f"slowest: {self.slowest[0]:.1f} s, case {self.slowest[1]}"

    def _ask(self, case):
        if self._child is None:
            self._start_child()
        print(json.dumps(case), file=self._child.stdin, flush=True)
        return self._answer(PATIENCE_S, f"{case['kind']} {Path(case['path']).name}")

    def _answer(self, patience, what):
        if not self._waiting.select(patience):
            self._end_child()
            raise Finding(f"{what}: no answer within {patience} s")
        line = self._answers.readline()
        if not line:
            self._child.wait()
            code = self._child.returncode
            self._end_child()
            self._said.seek(0)
            last = self._said.read().decode(errors="replace").strip().splitlines()[-3:]
            raise Finding(f"{what}: the process ended with code {code}: {' '.join(last)}")
        return json.loads(line)

    def _start_child(self):
        answers, end = os.pipe()
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, PACKAGE_FOLDERS)),
            "TMPDIR": str(self._sandbox / "tmp"),
        }
        self._said.truncate(0)
        self._child = subprocess.Popen(
            [sys.executable, str(CHILD), str(end)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._said,
            pass_fds=(end,),
            text=True,
            env=environment,
            cwd=self._sandbox / "work",
        )
        os.close(end)
        self._answers = os.fdopen(answers)
        self._waiting = selectors.DefaultSelector()
        self._waiting.register(self._answers, selectors.EVENT_READ)
        self._answer(START_S, "the start")

    def _end_child(self):
        if self._child is None:
            return
        self._child.kill()
        self._child.wait()
        self._child.stdin.close()
        self._waiting.close()
        self._answers.close()
        self._child = None

    def _listing(self):
        """Everything in the sandbox but the results and the program's own temporary folder."""
        return {
            str(path.relative_to(self._sandbox))
            for path in self._sandbox.rglob("*")
            if path.relative_to(self._sandbox).parts[0] not in ("out",)
            and not path.relative_to(self._sandbox).as_posix().startswith("tmp/fuzzy-vessel-")
        }

    def _clear(self):
        shutil.rmtree(self._sandbox / "out", ignore_errors=True)
        for name in ("case", "outside", "work"):
            for entry in (self._sandbox / name).iterdir():
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                else:
                    entry.unlink()
