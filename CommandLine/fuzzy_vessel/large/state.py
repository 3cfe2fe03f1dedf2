"""What a run has done so far, in a file of its folder, so that the same command goes on."""

import json
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.folder_lock import FolderLock, others_in

from ..writing.report_file import REPORT

STATE, PARTIAL = "large.json", ".large.json"
NOT_COMPARED = ("command", "workers", "memory_limit", "out", "device")  # results do not depend


@contextmanager
def continued(folder: Path, options: Namespace) -> Iterator[tuple[dict[str, Any], FolderLock]]:
    """The state of the run in the folder, a new one where there is none, and what keeps others out.

    No other run works in the folder meanwhile. One that ends before it has begun leaves nothing.
    """
    arguments = {k: v for k, v in sorted(vars(options).items()) if k not in NOT_COMPARED}
    arguments = json.loads(json.dumps(arguments))
    with FolderLock(folder) as lock, _told(folder):
        try:
            state = _read(folder)
            if not state:
                _refuse_other_files(folder)
                state = {"arguments": arguments}
                write_state(folder, state)
            _refuse_other_arguments(folder, state["arguments"], arguments)
            yield state, lock
        except InputError:
            if [place.name for place in others_in(folder)] == [STATE]:  # nothing was begun
                (folder / STATE).unlink()
            raise


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    """Name the folder that cannot be written."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{folder}: the results cannot be written: {error.strerror or error}; finished "
            "blocks and components are kept."
        ) from error


def _refuse_other_files(folder: Path) -> None:
    if not [place for place in others_in(folder) if place.name != PARTIAL]:
        return
    what = "results of an earlier run" if (folder / REPORT).exists() else "other files"
    raise InputError(
        f"{folder}: the folder holds {what} and is left alone; name a new or an empty folder with "
        "--out."
    )


def _refuse_other_arguments(folder: Path, known: dict[str, Any], given: dict[str, Any]) -> None:
    names = [name for name in given if known.get(name) != given[name]]
    if names:
        told = ", ".join(f"{name.replace('_', '-')} (it was {known.get(name)})" for name in names)
        raise InputError(
            f"{folder}: the folder holds an unfinished run with other arguments: {told}; give the "
            "same to go on, or name another folder with --out."
        )


def _read(folder: Path) -> dict[str, Any]:
    """The state that an earlier run has left; empty where there is none."""
    place = folder / STATE
    if not place.exists():
        return {}
    try:
        state = json.loads(place.read_text(encoding="utf-8"))
        return {"arguments": state["arguments"], **state}
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"{place} is not what a run has left: name a new or an empty folder with --out."
        ) from error


def write_state(folder: Path, state: dict[str, Any]) -> None:
    """Keep the state; the file is complete or absent."""
    partial = folder / PARTIAL
    try:
        partial.write_text(json.dumps(state, indent=1), encoding="utf-8")
        partial.replace(folder / STATE)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
