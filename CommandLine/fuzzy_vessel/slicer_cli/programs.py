"""The executables of the CLI modules: files and points in, files out."""

import os
import sys
import tempfile
import warnings
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

from FuzzyVesselCoreLib.errors import FuzzyVesselError

from .description import Module, make_parser, xml_text
from .filter_progress import FilterProgress
from .modules import SEGMENT, SKELETON


def segment_main(arguments: Sequence[str] | None = None) -> int:
    """`FuzzyVesselSegment`: returns the exit status, 2 for input that cannot be used."""
    return _main(SEGMENT, "segment", arguments)


def skeleton_main(arguments: Sequence[str] | None = None) -> int:
    """`FuzzyVesselSkeleton`: returns the exit status, 2 for input that cannot be used."""
    return _main(SKELETON, "skeleton", arguments)


def _main(module: Module, job: str, arguments: Sequence[str] | None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if "--xml" in arguments:  # alone: the files are not named
        from ..report import version

        sys.stdout.write(xml_text(module, version()))
        return 0
    given = make_parser(module).parse_args(_joined(module, arguments))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            notes = _run(job, given)
    except FuzzyVesselError as error:
        return _failed(module, str(error))
    except MemoryError:
        return _failed(module, "the memory does not suffice for this volume; crop it.")
    except OSError as error:
        return _failed(module, f"the results cannot be written: {error.strerror or error}.")
    for note in notes:
        print(f"{module.name}: warning: {note}")
    return 0


def _failed(module, message):
    print(f"{module.name}: error: {message}", file=sys.stderr)
    return 2


def _joined(module: Module, arguments: Sequence[str]) -> list[str]:
    """Flags with their values: a point that begins with a minus would be taken for a flag."""
    flags = {f"--{each.flag}" for each in module.parameters if each.flag}
    waiting, joined = list(arguments), []
    while waiting:
        each = waiting.pop(0)
        joined.append(f"{each}={waiting.pop(0)}" if each in flags and waiting else each)
    return joined


def _run(job: str, given: Namespace) -> list[str]:
    """Run a job; its files get their names when all of them are there."""
    from ..slicer_host import headless
    from . import jobs

    headless.start().clear()
    with (
        headless.vtk_messages(),
        tempfile.TemporaryDirectory(prefix="fuzzy-vessel-") as folder,
    ):
        files, notes = getattr(jobs, job)(given, FilterProgress(), Path(folder))
        _move_into_place(Path(folder), files)
    return notes


def _move_into_place(folder: Path, files: Mapping[str, str]) -> None:
    """Give files their names, all of them or none; a name is written anew as a whole."""
    waiting = {}
    try:
        for name, wanted in files.items():
            path = Path(wanted)
            beside = path.with_name(f".{path.name}.partial")
            beside.write_bytes((folder / name).read_bytes())
            waiting[beside] = path
        for beside, path in waiting.items():
            os.replace(beside, path)
    finally:
        for beside in waiting:
            beside.unlink(missing_ok=True)
