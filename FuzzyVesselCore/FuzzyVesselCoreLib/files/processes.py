"""Processes of this machine: what a file can say of one, and whether it still runs."""

import os
import platform
from functools import cache
from pathlib import Path

PROC = Path("/proc")
ENDED = "ZXx"  # states in /proc of a process that does nothing more
START = 19  # in /proc/PID/stat, counted from the state
HIDDEN = ""  # instead of the start of a process that runs, of which its user alone is told more


@cache
def machine_name() -> str:
    """What no other machine has, nor a container in which processes have other numbers.

    Empty where the system does not tell (Windows, macOS): then nothing is known of processes.
    """
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{platform.node()} {boot} {os.readlink(PROC / 'self/ns/pid')}"
    except (OSError, UnicodeDecodeError):
        return ""


def process_start(pid: int) -> str | None:
    """When a process was started, in ticks of the system; None if it has ended, or `HIDDEN`.

    Tells a process from a later one of the same number. Asked only where there is a
    `machine_name`.
    """
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:  # it has ended, or /proc is mounted so that other users' processes are hidden
        return HIDDEN if _exists(pid) else None
    fields = text.rpartition(")")[2].split()  # its name may hold spaces and parentheses
    return None if fields[0] in ENDED else fields[START]


def _exists(pid: int) -> bool:
    if pid < 1:  # the signal would be for several
        return False
    try:
        os.kill(pid, 0)  # no signal
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True
