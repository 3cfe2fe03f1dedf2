"""What a run has done so far, in a file of its folder, so that the same command goes on."""

import json
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError

STATE = "large.json"
NOT_COMPARED = ("command", "workers", "memory_limit", "out", "device")  # results do not depend


@contextmanager
def continued(folder: Path, options: Namespace) -> Iterator[dict[str, Any]]:
    """The state of the run in the folder, a new one where there is none."""
    arguments = {k: v for k, v in sorted(vars(options).items()) if k not in NOT_COMPARED}
    arguments = json.loads(json.dumps(arguments))
    try:
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        state = _read(folder)
        if not state:
            if any(folder.iterdir()):
                raise InputError(
                    f"{folder}: the folder holds other files and is left alone; name a new or an "
                    "empty folder with --out."
                )
            state = {"arguments": arguments}
            write_state(folder, state)
        if state["arguments"] != arguments:
            raise InputError(
                f"{folder}: the folder holds an unfinished run with other arguments: give the "
                "same to go on, or name another folder with --out."
            )
        yield state
    except InputError:
        if [place.name for place in folder.iterdir()] == [STATE]:  # nothing was begun
            (folder / STATE).unlink()
            if is_new:
                folder.rmdir()
        raise
    except OSError as error:
        raise InputError(
            f"{folder}: the results cannot be written: {error.strerror or error}; finished "
            "blocks and components are kept."
        ) from error


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
    partial = folder / f".{STATE}"
    partial.write_text(json.dumps(state, indent=1), encoding="utf-8")
    partial.replace(folder / STATE)
