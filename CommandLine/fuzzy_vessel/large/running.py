"""The job: its folder, which a run that was ended goes on in, its stages and its report."""

import os
import shutil
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyConnectedGPULib.distributed import ComponentTable, LabelOptions, labels, topology
from FuzzyConnectedGPULib.distributed.output import UNFINISHED
from FuzzyConnectedGPULib.distributed.stores import Store
from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib.graph.exports import table_text

from .. import report
from ..jobs import check_centrelines
from ..progress_bar import ProgressBar, Stopwatch
from ..writing.formats import check_roots
from ..writing.nodes import BRANCHES
from ..writing.report_file import list_files, write_report
from .centrelines import find_centrelines, refuse_missing_vtk
from .component_rows import read_components, write_components
from .notes import empty_branches, notes_on
from .placing import Place, place_of
from .scene import scene_of
from .state import STATE, continued, write_state

LABELS = "labels.ome.zarr"
NO_SKELETON = "skeleton   0 branches"
UNFINISHED_TOPOLOGY = "topology.unfinished"
MEMORY_SHARE = 0.8  # of the machine's, that a run may need where no limit is given


def run_large(options: Namespace, progress: ProgressBar) -> tuple[list[str], list[str]]:
    """Make labels, and centrelines if they are asked for; summary and warnings.

    Raises
    ------
    FuzzyVesselError
    Cancelled
    """
    check_centrelines(options)
    if options.close_tunnels:
        raise InputError(
            f"--close-tunnels {options.close_tunnels:g} is not possible here: closing tunnels "
            "needs the object as a whole. Leave it out, or fill gaps with --fill-gaps."
        )
    if options.centrelines:
        refuse_missing_vtk(options.formats)
    folder, watch = Path(options.out), Stopwatch(progress)
    _refuse_inside(folder, options)
    limit = options.memory_limit or _memory_of_the_machine()
    with continued(folder, options) as (state, lock):
        place = place_of(options)
        if options.centrelines and options.root:  # a typing error, told before hours of work
            check_roots(options.root, Store.of(options.scene, "scene", "fill").shape[::-1])
        if "labels" not in state:
            scene = scene_of(folder, state, options, limit, watch)
            state["labels"], table = _labels(folder, scene, options, place, limit, watch)
            state["labels"]["missing_chunks"] += state.get("missing_chunks", 0)
            write_state(folder, state)
        else:
            table = read_components(folder) if options.centrelines else None
        found = state["labels"]
        counts = [_counted(found[name], name) for name in ("voxels", "components")]
        lines = [f"vessels    {', '.join(counts)}"]
        content: dict[str, Any] = {"labels": found}
        if options.topology:
            shape = _topology(folder, options, limit, watch)
            content["topology"] = shape
            counts = [_counted(shape[name], name) for name in ("cycles", "cavities")]
            lines.append(f"topology   {', '.join(counts)}")
        warnings = notes_on(found, options)
        if options.centrelines and table is not None:
            more, text, notes = _centrelines(folder, table, place, options, limit, watch)
            content |= more
            lines.append(text)
            warnings += notes
        watch.stage(None)
        origin = {"scene": str(Path(options.scene).resolve()), "spacing_mm": place.spacing[::-1]}
        heading, ending = report.heading(origin), report.ending(watch.seconds, warnings)
        write_report(folder, heading | content | ending)
        lock.check()
        list_files(folder, without=STATE)
        (folder / STATE).unlink()
    lines.append(f"computed   {sum(watch.seconds.values()):.1f} s in all")
    return [*lines, f"results    {folder.resolve()}"], warnings


def _refuse_inside(folder: Path, options: Namespace) -> None:
    """Refuse results inside of what is read, which would not be what it was."""
    for name in filter(None, (options.scene, options.mask)):
        if folder.resolve().is_relative_to(Path(name).resolve()):
            raise InputError(
                f"{folder}: the folder lies inside of {name}, which is read; name another folder "
                "with --out."
            )


def _labels(
    folder: Path,
    scene: Path,
    options: Namespace,
    place: Place,
    limit: int | None,
    watch: Stopwatch,
) -> tuple[dict[str, Any], ComponentTable | None]:
    """The labels over blocks: what the report says of them, and the table of components."""
    watch.stage("Labels of blocks")
    target = folder / LABELS
    if target.exists():  # of this very run, which was ended before it said so
        shutil.rmtree(target.with_name(target.name + UNFINISHED), ignore_errors=True)
        shutil.rmtree(target)
    chosen = LabelOptions(
        block=options.block, components=options.components, min_voxels=options.min_voxels,
        numbered=options.numbered or options.centrelines, fill_gaps=options.fill_gaps,
        cut=options.cut, missing_chunks="auto" if options.affinity else options.missing_chunks,
        memory_limit=limit and limit // options.workers,
    )  # fmt: skip
    seeds, background = (
        np.array(voxels)[:, ::-1] if voxels else None
        for voxels in (options.seed, options.background)
    )
    with ThreadPoolExecutor(options.workers) as pool:
        run = labels(
            scene, options.threshold, target, seeds=seeds, background_seeds=background,
            mask=options.mask, spacing=place.spacing, origin=place.origin, client=pool,
            progress=watch.progress, options=chosen,
        )  # fmt: skip
    if run.table is not None:
        write_components(folder, run.table)
    details = {
        "threshold": run.threshold,
        "why": getattr(run.threshold, "reason", None),
        "components": run.components,
        "voxels": run.voxels,
        "components_found": run.found,
        "largest_component": run.largest,
        "missing_chunks": run.missing_chunks,
        "blocks": run.blocks,
        "seconds": run.seconds,
        "task_memory_estimate": run.need.task_memory,
    }
    return details, run.table


def _topology(
    folder: Path, options: Namespace, limit: int | None, watch: Stopwatch
) -> dict[str, int]:
    """Components, cavities and cycles of the labels."""
    watch.stage("Topology of blocks")
    chosen = LabelOptions(
        block=options.block, folder=folder / UNFINISHED_TOPOLOGY,
        memory_limit=limit and limit // options.workers,
    )  # fmt: skip
    with ThreadPoolExecutor(options.workers) as pool:
        found = topology(folder / LABELS, client=pool, progress=watch.progress, options=chosen)
    return asdict(found)


def _centrelines(
    folder: Path,
    table: ComponentTable,
    place: Place,
    options: Namespace,
    limit: int | None,
    watch: Stopwatch,
) -> tuple[dict[str, Any], str, list[str]]:
    """The centrelines: what the report says of them, a line of the summary, and warnings."""
    if not table.sizes.size:
        table_text(empty_branches(), folder / BRANCHES)
        return {"skeleton": {"branches": 0, "nodes": 0, "total_length_mm": 0.0}}, NO_SKELETON, []
    import zarr

    array = zarr.open_array(str(folder / LABELS / "0"), mode="r")
    check_roots(options.root, array.shape[::-1])
    skeleton, trees = find_centrelines(folder, array, table, place, options, limit, watch)
    warnings = [*skeleton.report["warnings"], *trees.pop("warnings")]
    length = sum(skeleton.length(branch) for branch in skeleton.branches)
    details = {k: v for k, v in skeleton.report.items() if k not in ("seconds", "warnings")}
    counts = {"branches": len(skeleton.branches), "nodes": len(skeleton.nodes)}
    found = {"skeleton": {**counts, "total_length_mm": length, **trees, **details}}
    branches = _counted(len(skeleton.branches), "branches")
    return found, f"skeleton   {branches}, {length:.4g} mm", warnings


def _counted(count: int, things: str) -> str:
    one = {"branches": "branch", "cavities": "cavity"}.get(things, things.removesuffix("s"))
    return f"{count:,} {one if count == 1 else things}"


def _memory_of_the_machine() -> int | None:
    """Bytes that a run may need, where the system says how many there are."""
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
    return int(MEMORY_SHARE * pages * size)
