"""What the CLI modules do: arguments in, files in a folder out, with the names they are to get."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError

from ..arguments import make_parser
from ..input_checks import check_segmentation, check_skeleton
from ..progress_bar import Stopwatch
from .filter_progress import FilterProgress

Written = tuple[dict[str, str], list[str]]  # file in the folder -> name that it is to get; warnings
IMAGES = (".nrrd", ".nhdr", ".mha", ".nii", ".nii.gz")
MODELS = (".vtp", ".vtk")
TABLES = (".csv",)


def segment(given: Namespace, progress: FilterProgress, folder: Path) -> Written:
    """Segment a volume.

    Raises
    ------
    FuzzyVesselError
        The arguments or files cannot be used.
    """
    from .. import segmenting
    from ..reading import volumes
    from ..writing import nodes

    options = _defaults("segment", given.volume)
    options.seed, options.mask = given.seeds or [], given.mask
    for name in ("automatic_seeds", "threshold", "fill_gaps", "border", "device"):
        setattr(options, name, getattr(given, name))
    if not (options.seed or options.automatic_seeds):
        raise InputError(
            "there is no seed: give points inside the vessels with --seed R,A,S in mm, or let the "
            "program find them with --automaticSeeds 6."
        )
    check_segmentation(options)
    wanted = {"labels": given.labels, "connectedness": given.connectedness}
    names = {name: _file(name, path, IMAGES) for name, path in wanted.items() if path}
    watch = Stopwatch(progress)
    watch.stage("Reading")
    inputs = segmenting.Inputs(
        volume=volumes.read_volume(given.volume),
        seeds=_points(given.seeds, "Vessels"),
        background=_points(given.background, "Background"),
        mask=volumes.read_mask(given.mask) if given.mask else None,
        title=Path(given.volume).name,
        origin={},
    )
    outcome = segmenting.segment(inputs, options, watch)
    watch.stage("Writing")
    found = {"labels": outcome.result.labelmapNode, "connectedness": outcome.result.sceneNode}
    nodes.write_nodes(folder, {file: found[name] for name, file in names.items()})
    watch.stage(None)
    progress(1.0)
    return {file: wanted[name] for name, file in names.items()}, outcome.warnings


def skeleton(given: Namespace, progress: FilterProgress, folder: Path) -> Written:
    """Find the centrelines of a labelmap; raises as `segment`."""
    from PotentialSkeleton import PotentialSkeletonLogic

    from ..reading import labelmaps
    from ..writing import nodes

    options = _defaults("skeleton", given.labelmap)
    options.device, options.strength = given.device, given.strength
    options.drop_islands = given.drop_islands
    check_skeleton(options)
    if not 1 <= given.level <= 3:
        raise InputError(f"--level {given.level} is not possible: give 1, 2 or 3.")
    models = {"centrelines": given.centrelines, "tubes": given.tubes}
    names = {name: _file(name, path, MODELS) for name, path in models.items() if path}
    table = _file("branches", given.branches, TABLES) if given.branches else None
    watch = Stopwatch(progress)
    watch.stage("Reading")
    label = given.label or None
    node, _ = labelmaps.read_labelmap(given.labelmap, label)
    watch.stage("Finding centrelines")
    result = PotentialSkeletonLogic().extract(
        node,
        label=label,
        level=given.level,
        strength=given.strength,
        drop_islands=given.drop_islands,
        device=given.device,
        tubesNode=True,
        curveNodes=False,
        labelmapNode=False,
        progress=watch.progress,
    )
    watch.stage("Writing")
    if not result.skeleton.branches:
        raise InputError(
            f"{given.labelmap}: the object has no branch, so there are no centrelines to write."
        )
    found = {"centrelines": result.modelNode, "tubes": result.tubesNode}
    nodes.write_nodes(folder, {file: found[name] for name, file in names.items()})
    files = {file: models[name] for name, file in names.items()}
    if table:
        files[table] = given.branches
        result.skeleton.to_csv(folder / table)
    watch.stage(None)
    progress(1.0)
    return files, list(result.warnings)


def _defaults(command: str, path: str) -> Namespace:
    """The options of the command line that nobody has chosen; the output lies nowhere near."""
    return make_parser().parse_args([command, path, "--out", f"{path}.results"])


def _file(name: str, path: str, suffixes: Sequence[str]) -> str:
    """A file's name in the folder, with the suffix of the name that it is to get."""
    if not Path(path).parent.is_dir():
        raise InputError(f"{path}: there is no folder {Path(path).parent}.")
    for suffix in sorted(suffixes, key=len, reverse=True):
        if path.lower().endswith(suffix):
            return name + suffix
    raise InputError(f"{path}: {name} can be written as {', '.join(suffixes)}.")


def _points(positions: Sequence[tuple[float, float, float]] | None, name: str) -> Any:
    """Points (R, A, S in mm) as a list of the scene; None if there is none."""
    import slicer

    if not positions:
        return None
    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", name)
    for number, position in enumerate(positions, 1):
        node.AddControlPointWorld(position, f"{name}-{number}")
    return node
