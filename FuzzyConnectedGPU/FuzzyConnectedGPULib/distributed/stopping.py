"""Runs of this process that are to end: their steps look here, those of others in the folder."""

import threading
from time import monotonic

from FuzzyVesselCoreLib.progress import Progress

from .run_folder import RunFolder

ASK_INTERVAL = 1.0  # seconds between two looks at a folder that may be far away
_stopped: set[str] = set()
_lock = threading.Lock()


def request_stop(run: str) -> None:
    """Have the steps of a run end early."""
    with _lock:
        _stopped.add(run)


def withdraw_stop(run: str) -> None:
    """No step of the run is left."""
    with _lock:
        _stopped.discard(run)


def stop_requested(run: str) -> bool:
    """Whether the steps of a run are to end."""
    return run in _stopped


def step_progress(run: str, folder: RunFolder) -> Progress:
    """Raises `Cancelled` in a step whose run was ended, in this process or another."""
    asked = [monotonic()]

    def goes_on(_share: float) -> bool:
        if stop_requested(run):
            return False
        if monotonic() < asked[0] + ASK_INTERVAL:
            return True
        asked[0] = monotonic()
        return not folder.stop_requested(run)

    return Progress(goes_on)
