"""Both jobs as CLI modules of Slicer: files and points in, files out; what a container starts.

Each executable prints its description (Slicer Execution Model; the XML file of its name here) on
`--xml`, and takes files and points as Slicer's CLI panel and slicer_cli_web give them.
"""

import argparse
import json
import os
import shlex
import shutil
import sys
import tempfile
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from FuzzyVesselCoreLib.errors import InputError

from .__main__ import done
from .__main__ import main as command_line
from .arguments import make_parser, threshold
from .jobs import Report, check_centrelines, check_run
from .progress import Progress

SEGMENT, SKELETON = "FuzzyVesselSegment", "FuzzyVesselSkeleton"
IMAGES, MODELS, TABLES = (".nrrd", ".nii.gz"), (".vtp",), (".csv",)
# Share of the whole at which a stage begins and ends; the others belong to the end.
STAGES = {
    "Reading": (0.0, 0.1),
    "Finding seeds": (0.1, 0.3),
    "Computing connectedness": (0.3, 0.9),
    "Finding centrelines": (0.1, 0.9),
}
# What Slicer's launcher sets for its own Python and libraries.
HIDDEN = ("PYTHONHOME", "PYTHONPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LD_PRELOAD")


def segment_main(arguments: Sequence[str] | None = None) -> int:
    """`FuzzyVesselSegment`: returns the exit status, 2 for input that cannot be used."""
    return _main(SEGMENT, _segment, arguments)


def skeleton_main(arguments: Sequence[str] | None = None) -> int:
    """`FuzzyVesselSkeleton`: returns the exit status, 2 for input that cannot be used."""
    return _main(SKELETON, _skeleton, arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """What a container starts: a module by its name (slicer_cli_web), else `fuzzy-vessel`."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    starts = {SEGMENT: segment_main, SKELETON: skeleton_main}
    if arguments == ["--list_cli"]:
        print(json.dumps({name: {"type": "python"} for name in starts}))
        return 0
    if arguments and arguments[0] in starts:
        return starts[arguments[0]](arguments[1:])
    return command_line(arguments)


def description(name: str) -> str:
    """Return the description (XML) of a module."""
    return (Path(__file__).parent / f"{name}.xml").read_text(encoding="utf-8")


def _main(name, job, arguments):
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if "--xml" in arguments:  # alone: the files are not named
        sys.stdout.write(description(name))
        return 0
    given, progress = _parse(name, arguments), FilterProgress()
    status, notes = done(name, lambda: _run(job, given, progress), progress.clear)
    for note in notes or ():
        print(f"{name}: warning: {note}")
    return status


def _parse(name: str, arguments: list[str]) -> Namespace:
    """The arguments by the module's description."""
    root = ElementTree.fromstring(description(name))
    parser = argparse.ArgumentParser(prog=name, description=root.findtext("description"))
    parser.add_argument("--xml", action="store_true", help="print the description and exit")
    kinds: dict[str, Any] = {"integer": int, "point": _point}
    flags = set()
    for each in (each for group in root.findall("parameters") for each in group[2:]):
        called, flag = each.findtext("name", ""), each.findtext("longflag")
        options: dict[str, Any] = {
            "help": each.findtext("description"),
            "type": threshold if called == "threshold" else kinds.get(each.tag, str),
            "choices": [choice.text for choice in each.findall("element")] or None,
        }
        if flag is None:
            parser.add_argument(called, **options)
            continue
        flags.add(f"--{flag}")
        several = each.get("multiple") == "true"
        options |= {"action": "append"} if several else {"default": each.findtext("default")}
        parser.add_argument(f"--{flag}", dest=called, **options)
    # Flags with their values: a point that begins with a minus would be taken for a flag.
    waiting, joined = list(arguments), []
    while waiting:
        text = waiting.pop(0)
        joined.append(f"{text}={waiting.pop(0)}" if text in flags and waiting else text)
    return parser.parse_args(joined)


def _point(text: str) -> tuple[float, float, float]:
    """Parse R,A,S in mm."""
    try:
        r, a, s = (float(part) for part in text.split(","))
    except ValueError:
        r = a = s = float("nan")
    if not all(abs(mm) < 1e9 for mm in (r, a, s)):
        raise argparse.ArgumentTypeError(f"{text!r} is no point R,A,S such as -104.5,20,33")
    return r, a, s


def _run(job, given, progress):
    """Run a job; its files get their names when all of them are there, each as a whole."""
    from . import headless

    headless.start().clear()
    with headless.without_messages(), tempfile.TemporaryDirectory(prefix="fuzzy-vessel-") as folder:
        files, notes = job(given, progress, Path(folder))
        for name, wanted in files.items():
            beside = Path(wanted).with_name(f".{Path(wanted).name}.partial")
            try:
                shutil.copyfile(Path(folder) / name, beside)
                os.replace(beside, wanted)
            finally:
                beside.unlink(missing_ok=True)
        progress(1.0)
    return notes


def _segment(given, progress, folder):
    from FuzzyVesselCoreLib.mrml.points import add_points

    from . import segmenting
    from .reading import volumes

    names = ("mask", "automatic_seeds", "threshold", "fill_gaps", "border", "device")
    options = _options("segment", given.volume, given, names)
    options.seed = given.seeds or []
    if not (options.seed or options.automatic_seeds):
        raise InputError(
            "there is no seed: give points inside the vessels with --seed R,A,S in mm, or let the "
            "program find them with --automaticSeeds 6."
        )
    check_run(options)
    files = _files(IMAGES, labels=given.labels, connectedness=given.connectedness)
    progress.stage("Reading")
    inputs = segmenting.Inputs(
        volume=volumes.read_volume(given.volume),
        vessels=[add_points(given.seeds, "Vessels")] if given.seeds else [],
        title=Path(given.volume).name,
        background=add_points(given.background, "Background") if given.background else None,
        mask=volumes.read_mask(given.mask) if given.mask else None,
    )
    outcome = segmenting.segment(inputs, options, progress)
    result = outcome.result
    _write(folder, files, progress, labels=result.labelmapNode, connectedness=result.sceneNode)
    return files, outcome.warnings


def _skeleton(given, progress, folder):
    from PotentialSkeleton import PotentialSkeletonLogic

    from .reading import volumes

    names = ("device", "strength", "drop_islands", "level")
    check_centrelines(_options("skeleton", given.labelmap, given, names))
    files = _files(MODELS, centrelines=given.centrelines, tubes=given.tubes)
    table = _files(TABLES, branches=given.branches)
    progress.stage("Reading")
    label = given.label or None
    node, _ = volumes.read_labelmap(given.labelmap, (label,) if label else ())
    progress.stage("Finding centrelines")
    options = {name: getattr(given, name) for name in names}
    outputs = {"tubesNode": True, "curveNodes": False, "labelmapNode": False}
    result = PotentialSkeletonLogic().extract(
        node, label=label, progress=progress, **outputs, **options
    )
    if not result.skeleton.branches:
        raise InputError(
            f"{given.labelmap}: the object has no branch, so there are no centrelines to write."
        )
    _write(folder, files, progress, centrelines=result.modelNode, tubes=result.tubesNode)
    for file in table:
        result.skeleton.to_csv(folder / file)
    return files | table, list(result.warnings)


def _options(command: str, path: str, given: Namespace, names: Sequence[str]) -> Namespace:
    """The options of the command line, with those of these names as given here."""
    options = make_parser().parse_args([command, path, "--out", f"{path}.results"])
    vars(options).update({name: getattr(given, name) for name in names})
    return options


def _files(suffixes: Sequence[str], **wanted: str | None) -> dict[str, str]:
    """Files to write in the folder, with the suffixes of the names that they are to get."""
    files = {}
    for name, path in wanted.items():
        if not path:
            continue
        if not Path(path).parent.is_dir():
            raise InputError(f"{path}: there is no folder {Path(path).parent}.")
        suffix = next((each for each in suffixes if path.lower().endswith(each)), None)
        if suffix is None:
            raise InputError(f"{path}: {name} can be written as {', '.join(suffixes)}.")
        files[name + suffix] = path
    return files


def _write(folder, files, progress, **nodes):
    from .writing import write_nodes

    progress.stage("Writing")
    write_nodes(folder, {file: nodes[file.split(".")[0]] for file in files})


class FilterProgress(Progress):
    """Writes `<filter-progress>`, which never falls, as Slicer reads it from standard output."""

    _first, _last, _written = 0.0, 0.0, -1.0

    def stage(self, name: str) -> None:
        """Begin a stage."""
        self._first, self._last = STAGES.get(name, (0.9, 1.0))
        print(f"<filter-comment>{name}</filter-comment>", flush=True)
        self(0.0)

    def __call__(self, share: float) -> bool:
        """Report the share done (0..1) of the stage; return True: go on."""
        done = self._first + min(max(share, 0.0), 1.0) * (self._last - self._first)
        if done >= self._written + 0.01 or done == 1 != self._written:
            self._written = done
            print(f"<filter-progress>{done:.3f}</filter-progress>", flush=True)
        return True


# The folder for Slicer


def slicer_cli(options: Namespace, _progress: Progress) -> Report:
    """Write both modules' scripts and descriptions into a folder, which is made if necessary.

    Slicer starts an executable in its own environment, whose PYTHONHOME and libraries another
    Python must not see; and it runs everything in a module path with ``--xml``, so that the
    environment's own folder of programs is no place to name.
    """
    folder = Path(options.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for module in (SEGMENT, SKELETON):
        name, text = _script(module)
        for each, content in ((name, text), (f"{module}.xml", description(module))):
            (folder / each).write_text(content, encoding="utf-8", newline="")
            written.append(str(folder / each))
        (folder / name).chmod(0o755)
    return Report(written, [])


def _script(module: str) -> tuple[str, str]:
    """Name and text of the script that starts a module by this Python."""
    start = f"-m fuzzy_vessel.slicer_cli {module}"
    if os.name == "nt":
        hide = "\r\n".join(f'set "{each}="' for each in HIDDEN)
        return f"{module}.bat", f'@echo off\r\n{hide}\r\n"{sys.executable}" {start} %*\r\n'
    hide = " ".join(f"-u {each}" for each in HIDDEN)
    return module, f'#!/bin/sh\nexec env {hide} {shlex.quote(sys.executable)} {start} "$@"\n'


if __name__ == "__main__":
    sys.exit(main())
