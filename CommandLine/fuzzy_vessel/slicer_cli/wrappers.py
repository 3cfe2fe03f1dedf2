"""A folder with both CLI modules for Slicer: small scripts beside their descriptions.

Slicer starts an executable in its own environment, whose PYTHONHOME and libraries another Python
must not see; and it runs everything in a module path with ``--xml``, so that the environment's own
folder of programs is no place to name.
"""

import os
import stat
import sys
from pathlib import Path

from FuzzyVesselCoreLib.errors import InputError

from .description import xml_text
from .modules import MODULES

# What Slicer's launcher sets for its own Python and libraries.
HIDDEN = ("PYTHONHOME", "PYTHONPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LD_PRELOAD")
STARTS = {"FuzzyVesselSegment": "segment_main", "FuzzyVesselSkeleton": "skeleton_main"}


def write_wrappers(folder: str | Path, version: str) -> list[Path]:
    """Write the scripts and descriptions into a folder, which is made if it is not there.

    Parameters
    ----------
    folder : str or Path
    version : str
        Of this program.

    Returns
    -------
    list of Path

    Raises
    ------
    InputError
        The folder cannot be written.
    """
    folder = Path(folder).resolve()
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for module in MODULES:
            name, text = _script(module.name)
            for path, content in (
                (folder / name, text),
                (folder / f"{module.name}.xml", xml_text(module, version)),
            ):
                path.write_text(content, encoding="utf-8", newline="")
                written.append(path)
            path = folder / name
            path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}.") from error
    return written


def _script(name: str) -> tuple[str, str]:
    """Name and text of the script that starts a module by this Python."""
    code = f"import sys; from fuzzy_vessel.slicer_cli.programs import {STARTS[name]} as main; "
    code += "sys.exit(main())"
    if os.name == "nt":
        hide = "\r\n".join(f'set "{each}="' for each in HIDDEN)
        return f"{name}.bat", f'@echo off\r\n{hide}\r\n"{sys.executable}" -c "{code}" %*\r\n'
    hide = " ".join(f"-u {each}" for each in HIDDEN)
    python = sys.executable.replace("'", "'\\''")
    return name, f"#!/bin/sh\nexec env {hide} '{python}' -c '{code}' \"$@\"\n"
