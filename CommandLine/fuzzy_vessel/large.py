"""`fuzzy-vessel large`: labels and centrelines of a volume larger than memory.

Steps: connectedness over blocks (with --affinity), labels over blocks, centrelines
component by component. Connectedness and labels resume block by block: what is finished stays in
the folder, so that the same command resumes an interrupted run.
"""

import json
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPULib.distributed import (
    ComponentTable,
    LabelOptions,
    connectedness,
    labels,
)
from FuzzyConnectedGPULib.distributed.blocks import Volume
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.step_folder import StepFolder, folder_lock, others_in
from FuzzyVesselCoreLib.translation import counted
from PotentialSkeletonLib import SkeletonOptions
from PotentialSkeletonLib.by_component import skeletonize_components
from PotentialSkeletonLib.curve_skeleton import COLUMNS as BRANCH_COLUMNS
from PotentialSkeletonLib.curve_skeleton import table_text

from . import report
from .jobs import Report, check_centrelines
from .progress import Progress
from .reading import stacks
from .reading.process import memory_of_the_machine, refuse_outside
from .writing import BRANCHES, write_report, write_trees

LEVELS, LABELS, COMPONENTS = "levels.zarr", "labels.ome.zarr", "components.csv"
COLUMNS = "component,voxels,first_i,first_j,first_k,last_i,last_j,last_k"
NOT_COMPARED = ("command", "workers", "memory_limit", "out", "device")  # results do not depend
MEMORY_SHARE = 0.8  # of the machine's, that a run may need where no limit is given
OPTIONS = ("level", "strength", "charge_distance", "drop_islands", "device")


class Steps(StepFolder):
    """What the steps of an unfinished run have found."""

    KINDS = ("labels",)
    MANIFEST = "large.json"


def large(options: Namespace, progress: Progress) -> Report:
    """Make labels, and centrelines if they are asked for."""
    check_centrelines(options)
    folder = Path(options.out)
    for name in filter(None, (options.scene, options.mask)):
        if folder.resolve().is_relative_to(Path(name).resolve()):
            raise InputError(
                f"{folder}: the folder lies inside of {name}, which is read; name another folder "
                "with --out."
            )
    refuse_outside(options.root, Volume(options.scene, "scene").shape[::-1], "--root")
    steps = Steps(folder)
    try:
        with folder_lock(folder):
            given = {k: v for k, v in sorted(vars(options).items()) if k not in NOT_COMPARED}
            read = [options.scene, *filter(None, [options.mask])]
            steps.begin({**given, "files": [Volume(each, "file").fingerprint() for each in read]})
            try:
                lines, warnings = _LargeRun(steps, options, progress).work()
            except InputError:
                if [place.name for place in others_in(folder)] == [steps.MANIFEST]:
                    (folder / steps.MANIFEST).unlink()  # nothing was begun
                raise
            steps.remove()
    except OSError as error:
        raise InputError(
            f"{folder}: the results cannot be written: {error.strerror or error}; finished blocks "
            "are kept."
        ) from error
    return Report([*lines, f"results    {folder.resolve()}"], warnings)


class _LargeRun:
    """The steps of a run in its folder."""

    def __init__(self, steps: Steps, options: Namespace, progress: Progress) -> None:
        self._steps, self._options, self._progress = steps, options, progress
        self._folder = steps.path
        machine = int(MEMORY_SHARE * memory_of_the_machine()) or None
        self._limit = options.memory_limit or machine
        self._spacing, self._origin = self._place()

    def work(self) -> tuple[list[str], list[str]]:
        """Do what is not done yet; summary and warnings."""
        options, progress = self._options, self._progress
        if not self._steps.has("labels", 0):
            self._steps.put("labels", 0, found=json.dumps(self._labels()))
        found = json.loads(str(self._steps.get("labels", 0)["found"]))
        counts = (counted(found[name], name[:-1]) for name in ("voxels", "components"))
        lines, content, warnings = [f"vessels    {', '.join(counts)}"], {"labels": found}, []
        if found["missing_chunks"]:
            warnings.append(
                f"{counted(found['missing_chunks'], 'chunk')} of {options.scene} without a "
                "file taken as the fill value, which zarr does not store: if it was copied, look "
                "whether it is whole."
            )
        if not found["components"]:
            count = counted(found["components_found"], "component")
            warnings.append(
                f"No component is left, and the labels are empty: the scene has {count} at this "
                f"threshold, the largest of {found['largest_component']:,} voxels; check "
                "--threshold, --min-voxels, and that a --seed lies in one."
            )
        if options.centrelines:
            content["skeleton"], more = self._centrelines()
            warnings += more
            branches = counted(content["skeleton"]["branches"], "branch", "branches")
            lines.append(f"skeleton   {branches}, {content['skeleton']['total_length_mm']:.4g} mm")
        progress.stage("")
        scene = {"scene": str(Path(options.scene).resolve()), "spacing_mm": self._spacing[::-1]}
        heading, ending = report.heading(scene), report.ending(progress.seconds, warnings)
        write_report(self._folder, heading | content | ending)
        lines.append(f"computed   {sum(progress.seconds.values()):.1f} s in all")
        return lines, warnings

    def _place(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Spacing and origin (K, J, I, mm), of an OME-Zarr image or as given."""
        path, given = Path(self._options.scene), self._options.spacing
        try:
            found = stacks.place_of(path) if path.is_dir() else None
        except (ValueError, KeyError, TypeError, OSError) as error:
            raise InputError(f"{path}: this is not an image that can be read: {error}.") from error
        spacing, origin = found or ((1.0, 1.0, 1.0), (0.0, 0.0, 0.0))
        return (tuple(given[::-1]) if given is not None else spacing), origin

    def _scene(self) -> tuple[Any, int]:
        """The scene, computed where there is an affinity, and chunks that had no file."""
        options, target = self._options, self._folder / LEVELS
        if options.affinity is None:
            return Path(options.scene), 0
        if target.exists():  # complete, of this run
            return target, 0
        if not options.seed:
            raise InputError(
                "--affinity computes connectedness from seeds: give --seed I,J,K, too."
            )
        self._progress.stage("Connectedness")
        run = connectedness(
            options.scene, np.array(options.seed)[:, ::-1], GaussianAffinity(*options.affinity),
            target, mask=options.mask, progress=self._progress, block=options.block,
            cut=options.cut, memory_limit=self._limit, device=options.device,
            missing_chunks=options.missing_chunks,
        )  # fmt: skip
        return target, run.missing_chunks

    def _labels(self) -> dict[str, Any]:
        options = self._options
        scene, missing = self._scene()
        self._progress.stage("Labels of blocks")
        chosen = LabelOptions(
            block=options.block, components=options.components, min_voxels=options.min_voxels,
            numbered=options.numbered or options.centrelines, fill_gaps=options.fill_gaps,
            cut=options.cut, missing_chunks=options.missing_chunks,
            memory_limit=self._limit and self._limit // options.workers,
        )  # fmt: skip
        seeds, background = (
            np.array(voxels)[:, ::-1] if voxels else None
            for voxels in (options.seed, options.background)
        )
        target = self._folder / LABELS
        with ThreadPoolExecutor(options.workers) as pool:
            run = labels(
                scene, options.threshold, target, seeds=seeds, background_seeds=background,
                mask=options.mask, spacing=self._spacing, origin=self._origin,
                client=pool if options.workers > 1 else None, progress=self._progress,
                options=chosen,
            )  # fmt: skip
        if run.table is not None:
            sizes, low, high = run.table
            numbers = np.arange(1, sizes.size + 1)
            rows = np.column_stack([numbers, sizes, low[:, ::-1], high[:, ::-1] - 1])
            np.savetxt(self._folder / COMPONENTS, rows, "%d", ",", header=COLUMNS, comments="")
        return {
            "threshold": run.threshold, "why": getattr(run.threshold, "reason", None),
            "components": run.components, "voxels": run.voxels, "components_found": run.found,
            "largest_component": run.largest, "missing_chunks": run.missing_chunks + missing,
            "blocks": run.blocks, "seconds": run.seconds,
        }  # fmt: skip

    def _centrelines(self) -> tuple[dict[str, Any], list[str]]:
        rows = np.loadtxt(self._folder / COMPONENTS, np.int64, delimiter=",", skiprows=1, ndmin=2)
        rows = rows.reshape(-1, 8)
        table = ComponentTable(rows[:, 1], rows[:, 4:1:-1], rows[:, 7:4:-1] + 1)
        if not table.sizes.size:
            table_text({name: [] for name in BRANCH_COLUMNS}, self._folder / BRANCHES)
            return {"branches": 0, "nodes": 0, "total_length_mm": 0.0}, []
        import zarr

        self._progress.stage("Finding centrelines")
        options, folder = self._options, self._folder
        skeleton = skeletonize_components(
            zarr.open_array(str(folder / LABELS / "0"), mode="r"), *table, self._spacing,
            options=SkeletonOptions(**{name: getattr(options, name) for name in OPTIONS}),
            memory_limit=self._limit, progress=self._progress,
        )  # fmt: skip
        self._progress.stage("Writing centrelines")
        matrix = np.diag([*self._spacing[::-1], 1.0])
        matrix[:3, 3] = self._origin[::-1]
        matrix[:2] *= -1  # from LPS to RAS, as volumes of OME-Zarr are placed
        trees, warnings = write_trees(folder, skeleton, None, matrix, options)
        details = {k: v for k, v in skeleton.report.items() if k not in ("seconds", "warnings")}
        found = {
            "branches": len(skeleton.branches), "nodes": len(skeleton.nodes),
            "total_length_mm": sum(map(skeleton.length, skeleton.branches)),
        }  # fmt: skip
        return found | trees | details, [*skeleton.report["warnings"], *warnings]
