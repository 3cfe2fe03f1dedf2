"""Image files read in a process of their own: NRRD, MetaImage, NIfTI, DICOM, TIFF, OME-Zarr.

The libraries that read them are not safe against damaged files: of 600 mutated NRRD files 28 crash
SimpleITK, of 600 MetaImage files 3; of 300 DICOM slices 9 take longer than 6 s and 59 more than
400 MB. So `read_image` starts this file with a folder: ``task.json`` in, ``answer.json`` and
``voxels.npy`` out. The readers (`itk`, `stacks`) raise `InputError` without the file's name, which
is put before it, and whatever their libraries raise.
"""

import importlib
import importlib.util
import json
import os
import re
import subprocess  # noqa: TID251
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.zarr_guard import ZARR
from FuzzyVesselCoreLib.mrml.points import inside

SUFFIXES = (".nrrd", ".nhdr", ".mha", ".mhd", ".nii", ".nii.gz")
TIFF = (".tif", ".tiff")
# Reader of each kind of file in the child, the package that it needs, and its extra of pip.
READERS = {
    "file": ("itk.read_file", "SimpleITK", "mrml"),
    "series": ("itk.read_series", "SimpleITK", "mrml"),
    "zarr": ("stacks.read_zarr", "zarr", "zarr"),
    "tiff": ("stacks.read_tiff", "tifffile", "tiff"),
}
CHILD = "fuzzy_vessel.reading.process"
# Seconds: for a start, and for so many bytes of the file a second, on a slow disk.
SECONDS, BYTES_A_SECOND = 30, 2e6
MEMORY_SHARE = 0.5  # of the machine's memory: the voxels are needed several times over
HEADER_MEMORY = 4 << 30  # bytes of address space, until the size of the voxels is known
MAX_MESSAGE = 300


class Choice(NamedTuple):
    """Which part of a file is wanted: numbers from 0, spacing I, J, K in mm; None: its own."""

    frame: int | None = None
    channel: int | None = None
    spacing: tuple[float, float, float] | None = None

    @classmethod
    def of(cls, options: Any) -> "Choice":
        """What the user has chosen."""
        return cls(*(getattr(options, name, None) for name in cls._fields))


class Image(NamedTuple):
    """Voxels (K, J, I), the matrix (4, 4) from I, J, K to R, A, S in mm as it is in the file
    (it may be left-handed), and what is to be said of it."""

    voxels: np.ndarray
    ijk_to_ras: np.ndarray
    notes: tuple[str, ...] = ()


def file_kind(path: Path) -> str:
    """Which of the `READERS` reads a path, by its name or the names of its files."""
    if path.is_dir():
        return "zarr" if any((path / name).exists() for name in ZARR) else "series"
    return "tiff" if path.name.lower().endswith(TIFF) else "file"


def read_image(path: Path, choice: Choice) -> Image:
    """Read a file or folder; `InputError` names it and says why it cannot be used."""
    kind = file_kind(path)
    _, package, extra = READERS[kind]
    if importlib.util.find_spec(package) is None:
        raise InputError(
            f"{path}: the package {package} is needed and not installed; install it with: "
            f"pip install 'fuzzy-vessel-gpu[{extra}]'"
        )
    if kind == "file" and not path.name.lower().endswith(SUFFIXES):
        raise InputError(
            f"{path}: files of this kind are not read; {', '.join(SUFFIXES)}, TIFF, a folder "
            "with a DICOM series or an OME-Zarr are (an archive must be unpacked first)."
        )
    if path.is_file() and path.stat().st_size == 0:
        raise InputError(f"{path}: the file is empty.")
    with tempfile.TemporaryDirectory(prefix="fuzzy-vessel-") as name:
        folder, memory = Path(name), MEMORY_SHARE * memory_of_the_machine()
        task = {"path": str(path.absolute()), "kind": kind, "choice": choice, "memory": memory}
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
        voxels = np.load(folder / "voxels.npy")
    return Image(voxels, np.array(answer["matrix"]), tuple(answer["notes"]))


def _run(path, folder):
    """Run the child; returns what the libraries wrote to its standard error, on one line."""
    size = sum(each.stat().st_size for each in (path.rglob("*") if path.is_dir() else [path]))
    try:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-P", "-m", CHILD, str(folder)], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            timeout=SECONDS + size / BYTES_A_SECOND,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise InputError(
            f"{path}: reading it took too long and was ended; the file is damaged, or the disk is "
            "very slow."
        ) from error
    lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines()]
    own = any(line.startswith("Traceback") for line in lines)
    return "" if own else "; ".join(filter(None, lines))


def refuse_outside(voxels: Sequence, sizes: Sequence[int], option: str) -> None:
    """Refuse voxels of an option outside a volume; both are I, J, K."""
    for voxel in voxels:
        if not inside(voxel, sizes):
            raise InputError(
                f"{option} {','.join(map(str, voxel))} lies outside the volume: I, J, K go from "
                f"0 to {', '.join(str(size - 1) for size in sizes)} (indices, not R, A, S in mm)."
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


# The child, and what its readers share.


def main(folder: Path) -> None:
    """Read what the task names, and write the answer."""
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    module, _, name = READERS[task["kind"]][0].partition(".")
    limit_memory(HEADER_MEMORY)
    try:
        reader = getattr(importlib.import_module(f"fuzzy_vessel.reading.{module}"), name)
        image = reader(Path(task["path"]), Choice(*task["choice"]), task["memory"])
        np.save(folder / "voxels.npy", image.voxels)
        answer = {"matrix": image.ijk_to_ras.tolist(), "notes": image.notes}
    except InputError as error:
        answer = {"refused": str(error)}
    except MemoryError:
        answer = {"refused": "the memory does not suffice to read it"}
    except Exception as error:  # the libraries raise errors of many kinds for damaged files
        answer = {"damaged": last_line(error)}
    (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")


def limit_memory(size: float) -> None:
    """Bound this process's address space, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (int(size), hard))


def refuse_too_large(size: float, memory: float) -> None:
    """Refuse voxels of so many bytes where the machine has too little memory; else allow them."""
    if memory and size > memory:
        raise InputError(
            f"the image has {size / 2**30:,.1f} GiB, more than this machine's memory can hold; "
            "crop it, or name a smaller resolution of an OME-Zarr by its folder (image.zarr/1)"
        )
    limit_memory(HEADER_MEMORY + 3 * size)


def refuse_colours(count: int) -> NoReturn:
    """Refuse a file whose voxels hold several values each."""
    raise InputError(
        f"each voxel holds {count} values (colours or vectors); one intensity is needed. "
        "Export the original scan, or one component of it"
    )


def chosen(number: int | None, count: int, what: str, option: str) -> int:
    """The number of a frame or channel, checked; 0 where there is one and none was chosen."""
    if number is None and count > 1:
        raise InputError(
            f"it holds {count} {what}; choose one with {option} N, N = 0 to {count - 1}"
        )
    if number and count == 1:
        raise InputError(f"it holds one of its {what} only; leave {option} {number} out")
    if not 0 <= (number or 0) < count:
        raise InputError(f"there is no {option} {number}; N = 0 to {count - 1}")
    return number or 0


def last_line(error: Exception) -> str:
    """What went wrong, without ITK's source lines and addresses."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = re.sub(r"\(0x[0-9a-f]+\)", "", lines[-1] if lines else type(error).__name__)
    return text.removeprefix("ITK ERROR: ").removeprefix("sitk::ERROR: ").rstrip(".")


if __name__ == "__main__":
    os.environ.setdefault("ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS", "1")
    main(Path(sys.argv[1]))
