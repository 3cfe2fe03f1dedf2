"""Public entry point: labels of a scene over blocks."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import uuid4

import numpy as np

from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from ...input_validation import checked_seeds
from ..needs import RunNeed, require_memory
from ..output import Output
from ..stores import Store
from .components.component_table import ComponentTable
from .counting import NOWHERE
from .label_phases import LabelPhases
from .object_blocks import ObjectBlocks
from .runs.label_folder import LabelFolder
from .runs.label_image import create
from .runs.label_inputs import check_inputs, manifest_of
from .runs.label_job import LabelJob
from .runs.label_needs import label_need
from .runs.label_options import LabelOptions
from .volume_curve import checked_scene


@dataclass(frozen=True)
class LabelRun:
    """What labels over blocks consist of, and how they were made.

    Attributes
    ----------
    threshold : AutomaticThreshold, float or None
        None for a labelmap.
    components, voxels : int
        Of the result.
    table : ComponentTable or None
        Of numbered components.
    blocks : int
    seconds : dict of str to float
        Of the phases "count" (where the threshold is automatic), "label", "join", "spread" and
        "write".
    computed : dict of str to int
        Steps that each phase computed; fewer than there are in a run that went on.
    need : RunNeed
        The estimate of memory and disk space.
    found, largest : int
        Components of the object before any was left out, and voxels of the largest.
    missing_chunks : int
        Chunks of a zarr array that have no file and count as the fill value.
    """

    threshold: float | None
    components: int
    voxels: int
    table: ComponentTable | None
    blocks: int
    seconds: dict[str, float]
    computed: dict[str, int]
    need: RunNeed
    found: int
    largest: int
    missing_chunks: int = 0


def labels(
    scene: Any,
    threshold: float | None,
    target: Any,
    *,
    seeds: np.ndarray | Sequence | None = None,
    background_seeds: np.ndarray | Sequence | None = None,
    mask: Any = None,
    spacing: Sequence[float] | None = None,
    origin: Sequence[float] | None = None,
    client: Any = None,
    progress: Progress | ProgressCallback | None = None,
    options: LabelOptions | None = None,
    **keywords: Any,
) -> LabelRun:
    """Labels of a scene that need not fit in memory, written to a target.

    They equal, bit for bit and for every partition, those of `binarize`, `fill_gaps` and a filter
    of `label_components` on the whole; the package's docstring has the proof. A run that was ended
    goes on where it stopped if it is called again with the same inputs and a target that is a
    path, or with ``folder``.

    Parameters
    ----------
    scene : path or array, shape (K, J, I)
        What `connectedness` over blocks has written: levels (uint16) or values (float32). Or a
        labelmap, whose object is where it is not 0: of bool, uint8, int8 or integers of 32 and 64
        bits; of 16 bits if it is an OME-NGFF image with "image-label".
    threshold : float or None
        Above 0 and at most 1. None: automatic, from the volume curve and the background seeds, as
        `choose_threshold` does; or for a labelmap.
    target : path or array
        A path must not exist; it is made: an OME-Zarr label image (.ome.zarr), a zarr array or a
        .npy file. Or an array of NumPy or zarr, of uint8, or uint32 for numbered components.
    seeds : array_like, shape (n, 3), integers K, J, I, optional
        Needed for ``components="seeds"``.
    background_seeds : array_like, shape (n, 3), integers K, J, I, optional
        They raise an automatic threshold, and no gap is filled there.
    mask : path or array, optional
        No gap is filled where it is 0.
    spacing, origin : sequence of 3 float, optional
        Distance of voxels and place of the first one along K, J, I in mm, for an OME-Zarr label
        image; 1, 1, 1 and 0, 0, 0 by default.
    client, progress : optional
        As of `connectedness` over blocks; one block after the other by default.
    options, **keywords : LabelOptions, optional
        The same, with `LabelOptions` and its fields.

    Returns
    -------
    LabelRun

    Raises
    ------
    InputError, Cancelled
        As `connectedness` over blocks.

    Examples
    --------
    >>> scene = np.array([[[1, 0.9, 0.2, 0.9]]], np.float32)
    >>> found = np.empty(scene.shape, np.uint8)
    >>> labels(scene, 0.5, found, block=(1, 1, 2), components="largest").voxels
    2
    >>> found
    array([[[1, 1, 0, 0]]], dtype=uint8)
    """
    options = LabelOptions(**keywords) if options is None else replace(options, **keywords)
    progress = Progress.of(progress)
    progress.advance(0.0)
    store = checked_scene(scene, options.missing_chunks)
    region = None if mask is None else Store.of(mask, "mask")
    points = NOWHERE if seeds is None else checked_seeds(seeds, store.shape)
    barred = NOWHERE
    if background_seeds is not None:
        barred = checked_seeds(background_seeds, store.shape, "background seed")
    check_inputs(store, threshold, region, seeds, target, client, options)
    missing_chunks = store.refuse_missing()
    if region is not None:
        region.refuse_missing()
    partition = options.partition_of(store.shape)
    need = label_need(partition, store.voxel_type.itemsize, options.fill_gaps)
    require_memory(need, options.memory_limit)
    make = partial(create, spacing=spacing, origin=origin)
    output = Output(target, options, partition, (options.target_type,), make, LabelFolder)
    with ExitStack() as stack:
        stack.callback(output.close)
        output.begin(
            manifest_of(store, threshold, region, points, barred, options, partition), need
        )
        client = client or stack.enter_context(ThreadPoolExecutor(1))
        store = store.begun_in(output.folder)
        region = region and region.begun_in(output.folder)
        objects = ObjectBlocks(store, 1, options.fill_gaps, region, barred)
        job = LabelJob(
            uuid4().hex, objects, output.target, points, options, partition, output.folder
        )
        run = LabelPhases(job, client, output.continues, progress)
        threshold = run.choose_threshold(threshold, background_seeds)
        table, totals = run.find()
        run.write()
        output.finish()
    progress.advance(1.0)
    return LabelRun(
        threshold, totals.components, totals.voxels, table if options.numbered else None,
        len(partition.groups(0)), run.seconds, run.computed, need, totals.found, totals.largest,
        missing_chunks,
    )  # fmt: skip
