"""Runs of this process that are to end: their steps look here, those of others in the folder."""

import threading

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
