"""Runs of many steps that are ended in the middle."""

import os
import signal
import subprocess
import sys
import threading
from types import ModuleType

import pytest

KILLS = pytest.mark.skipif(
    not hasattr(signal, "SIGKILL"), reason="processes end in another way here"
)
PROGRAM = """
import os, signal, sys
from importlib import import_module

steps, name, after = import_module(sys.argv[1]), sys.argv[2], int(sys.argv[3])
step, done = getattr(steps, name), []
def killing(job, group):
    step(job, group)
    done.append(group)
    if len(done) == after:
        os.kill(os.getpid(), signal.SIGKILL)
setattr(steps, name, killing)
"""


def fail_at(monkeypatch, steps: ModuleType, name: str, after: int):
    """The step fails once it has succeeded so many times; returns the repair.

    No second step is begun before the first has ended, so it is known how many have succeeded.
    """
    done, step, one = [], getattr(steps, name), threading.Lock()

    def failing(job, group):
        with one:
            if len(done) == after:
                raise KeyboardInterrupt
            step(job, group)
            done.append(group)

    monkeypatch.setattr(steps, name, failing)
    return lambda: monkeypatch.setattr(steps, name, step)


def run_killed_after(steps: ModuleType, name: str, after: int, program: str, *arguments) -> None:
    """Run a program whose process is killed after so many steps; its arguments are `given`."""
    text = f"{PROGRAM}\ngiven = sys.argv[4:]\n{program}"
    command = [sys.executable, "-c", text, steps.__name__, name, str(after), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def check_computed(run, all_steps: dict[str, int], step: str, after: int) -> None:
    """A run that went on has computed nothing of what was finished, and the rest."""
    phase, phases = step.split("_")[0], list(all_steps)
    for other, count in all_steps.items():
        before = phases.index(other) < phases.index(phase)
        assert run.computed[other] == (0 if before else count - after * (other == phase)), other
