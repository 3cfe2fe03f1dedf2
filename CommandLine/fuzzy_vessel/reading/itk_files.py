"""Image files by SimpleITK, in a process with a limit of memory and time; see `itk_child`."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

SUFFIXES = (".nrrd", ".nhdr", ".mha", ".mhd", ".nii", ".nii.gz")
ARCHIVES = (".zip", ".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".xz")
CHILD = Path(__file__).with_name("itk_child.py")
# Seconds: for a start, and for so many bytes of the file a second, on a slow disk.
SECONDS, BYTES_A_SECOND = 30, 2e6
MEMORY_SHARE = 0.5  # of the machine's memory: the voxels are needed several times over
MAX_MESSAGE = 300


def read_itk(path: Path, frame: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Read an image file (one frame, counted from 0, of a 4D file), or a folder's DICOM series.

    Returns
    -------
    voxels : ndarray, (K, J, I)
    ijk_to_ras : ndarray, (4, 4)
        From voxels I, J, K to millimetres, as the file has them: it may be left-handed.

    Raises
    ------
    InputError
        The file is of another kind, damaged, too large or holds colours; the message names it.
    """
    _refuse_kind(path)
    with tempfile.TemporaryDirectory(prefix="fuzzy-vessel-") as name:
        folder = Path(name)
        memory = MEMORY_SHARE * memory_of_the_machine()
        task = {"path": str(path.absolute()), "frame": frame, "memory": memory}
        (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
        said = _run(path, folder)
        try:
            answer = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            answer = {"damaged": "the library that reads it crashed"}
        if "refused" in answer:
            raise InputError(f"{path}: {one_line(answer['refused'])}.")
        if "damaged" in answer:
            reason = one_line(said or answer["damaged"]).rstrip(".")
            raise InputError(f"{path}: this is not an image that can be read: {reason}.")
        if "values" in answer:
            refuse_colours(path, answer["values"])
        return np.load(folder / "voxels.npy"), np.array(answer["matrix"])


def _refuse_kind(path):
    if path.is_dir():
        return
    if not path.name.lower().endswith(SUFFIXES):
        if path.suffix.lower() in ARCHIVES:
            raise InputError(f"{path}: this is an archive: unpack it, and name what was in it.")
        raise InputError(
            f"{path}: files of this kind are not read; {', '.join(SUFFIXES)}, TIFF, a folder "
            "with a DICOM series or an OME-Zarr are."
        )
    if path.stat().st_size == 0:
        raise InputError(f"{path}: the file is empty.")


def _run(path, folder):
    """Run the child; returns what the libraries wrote to its standard error, on one line."""
    files = [each for each in path.iterdir() if each.is_file()] if path.is_dir() else [path]
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(CHILD), str(folder)], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            timeout=SECONDS + sum(each.stat().st_size for each in files) / BYTES_A_SECOND,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise InputError(
            f"{path}: reading it took too long and was ended; the file is damaged, or the disk is "
            "very slow."
        ) from error
    text = done.stderr.decode("utf-8", "replace")
    if "No module named 'SimpleITK'" in text:
        raise InputError(
            f"{path}: the package SimpleITK is needed and not installed; install it with: "
            "pip install 'fuzzy-vessel-gpu[mrml]'"
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "" if any(line.startswith("Traceback") for line in lines) else one_line("; ".join(lines))


def refuse_colours(path: Path, count: int) -> NoReturn:
    """Refuse a file whose voxels hold several values each."""
    raise InputError(
        f"{path}: each voxel holds {count} values (colours or vectors); one intensity is needed. "
        "Export the original scan, or one component of it."
    )


def one_line(text: object) -> str:
    """Return a text that a file says, without control characters, and not too long."""
    line = "".join(sign if sign.isprintable() else "?" for sign in str(text))
    return line if len(line) <= MAX_MESSAGE else line[:MAX_MESSAGE] + "..."


def memory_of_the_machine() -> int:
    """Bytes of memory; 0 where it cannot be told."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0
