"""The volume curve of a scene that fits in no memory, and a threshold from it."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from ...affinity import TOP_LEVEL, level_values
from ...input_validation import checked_seeds
from ...threshold.automatic import AutomaticThreshold, threshold_of_curve
from ...threshold.choice import raised
from ...threshold.thresholds import curve_of, next_above
from ..partition import Box, Group
from ..stores import Store
from ..tasks import run_steps
from . import label_steps
from .counting import counting, counting_job
from .object_blocks import MASK_TYPES, SCENE_TYPES, is_labelmap
from .runs.label_folder import LabelFolder
from .runs.label_job import LabelJob
from .runs.label_options import LabelOptions


def volume_curve(
    scene: Any,
    *,
    client: Any = None,
    progress: Progress | ProgressCallback | None = None,
    options: LabelOptions | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Number of the object's voxels at every threshold, of a scene that need not fit in memory.

    Equals `FuzzyConnectedGPULib.threshold.thresholds.volume_curve` of the whole.

    Parameters
    ----------
    scene : path or array, shape (K, J, I)
        As the target of `connectedness` over blocks: levels (uint16) or values (float32).
    client : executor, optional
        As of `connectedness` over blocks.
    progress : callable, optional
        ``progress(share) -> bool``; returns False to cancel.
    options : LabelOptions, optional
        Its block, chunks that are missing, folder (for Dask's workers) and limit of memory.

    Returns
    -------
    thresholds : ndarray, float32, shape (65535,)
    counts : ndarray, int64, shape (65535,)

    Raises
    ------
    InputError
        The scene is invalid; the message names the block or the chunk.
    Cancelled
        If `progress` returned False.

    Examples
    --------
    >>> _, counts = volume_curve(np.array([[[1.0, 0.5, 0.2]]], np.float32))
    >>> counts[[0, 30000, 65534]].tolist()
    [3, 2, 1]
    """
    options, progress = options or LabelOptions(), Progress.of(progress)
    store = checked_scene(scene, options.missing_chunks)
    if is_labelmap(store):
        raise InputError("The scene is a labelmap, which has no volume curve: give connectedness.")
    with counting(store, 0, options, client) as (folder, executor):
        kept = LabelFolder(folder)
        partition = options.partition_of(store.shape)
        kept.begin({"source": store.fingerprint(), "block": partition.block})
        job = counting_job(store, kept, options)
        count_blocks(job, executor, progress)
        histogram = counted(job)
        kept.remove()
    return curve_of(histogram)


def checked_scene(scene: Any, missing_chunks: str) -> Store:
    """The store of a scene or a labelmap.

    Raises
    ------
    InputError
        It is of neither's type.
    """
    store = Store.of(scene, "scene", missing_chunks)
    if store.voxel_type.name not in SCENE_TYPES and not is_labelmap(store):
        raise InputError(
            f"The scene's type is {store.voxel_type.name}, but must be {' or '.join(SCENE_TYPES)} "
            f"(levels or values of connectedness), or a labelmap's, {', '.join(MASK_TYPES)}: "
            "compute the connectedness of a volume first (by --affinity on the command line)."
        )
    return store


def count_blocks(job: LabelJob, client: Any, progress: Progress) -> int:
    """Make the histograms of the blocks that have none; how many these are."""
    blocks = job.partition.groups(0)
    missing = [block for block in blocks if not job.folder.has("counts", block)]
    step: Callable[[Any, Group], None] = label_steps.count_block
    run_steps(step, cast(Any, job), missing, client, progress)
    return len(missing)


def counted(job: LabelJob) -> np.ndarray:
    """The sum of all blocks' histograms."""
    histogram = np.zeros(TOP_LEVEL + 1, np.int64)
    for block in job.partition.groups(0):
        record = job.folder.get("counts", block)
        histogram[record["levels"]] += record["counts"]
    return histogram


def chosen_threshold(
    histogram: np.ndarray,
    scene: Store,
    background_seeds: np.ndarray | Sequence | None,
    cut: float,
) -> AutomaticThreshold | float:
    """`choose_threshold` of a scene with this histogram; raises as that."""
    voxels = int(np.prod(scene.shape, dtype=object))
    automatic = threshold_of_curve(*curve_of(histogram), voxels)
    if background_seeds is None:
        return automatic
    seeds = checked_seeds(background_seeds, scene.shape, "background seed")
    boxes = [Box((k, j, i), (k + 1, j + 1, i + 1)) for k, j, i in seeds.tolist()]
    found = np.concatenate([scene.read(box).reshape(-1) for box in boxes])
    connected = found if found.dtype.kind == "f" else level_values(found)
    return raised(automatic, next_above(connected, seeds), cut)
