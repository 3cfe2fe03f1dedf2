"""The topology of an object that fits in no memory."""

from dataclasses import dataclass, replace
from typing import Any

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.folder_lock import remove_if_empty
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from .counting import counting, counting_job
from .label_phases import LabelPhases
from .object_blocks import MASK_TYPES, is_labelmap
from .runs.label_folder import LabelFolder
from .runs.label_options import LabelOptions
from .volume_curve import checked_scene


@dataclass(frozen=True)
class Topology:
    """What an object looks like but for its shape.

    Attributes
    ----------
    components : int
        26-connected sets of its voxels.
    cavities : int
        6-connected sets of other voxels that do not reach the volume's border.
    cycles : int
        Independent loops.
    characteristic : int
        Euler characteristic: components - cycles + cavities.
    """

    components: int
    cavities: int
    cycles: int
    characteristic: int


def topology(
    labelmap: Any,
    *,
    client: Any = None,
    progress: Progress | ProgressCallback | None = None,
    options: LabelOptions | None = None,
) -> Topology:
    """Components, cavities and cycles of an object that need not fit in memory, exact.

    Parameters
    ----------
    labelmap : path or array, shape (K, J, I)
        As the scene of `labels`; the object is where it is not 0.
    client, progress, options
        As of `volume_curve`; with a folder, a run that was ended goes on.

    Returns
    -------
    Topology

    Raises
    ------
    InputError
        The labelmap is invalid; the message names the block or the chunk.
    Cancelled
        If `progress` returned False.

    Examples
    --------
    >>> import numpy as np
    >>> ring = np.ones((1, 3, 3), np.uint8)
    >>> ring[0, 1, 1] = 0
    >>> topology(ring, options=LabelOptions(block=2))
    Topology(components=1, cavities=0, cycles=1, characteristic=0)
    """
    options = replace(options or LabelOptions(), numbered=False, components="all", min_voxels=1)
    progress = Progress.of(progress)
    store = checked_scene(labelmap, options.missing_chunks)
    if not is_labelmap(store):
        raise InputError(
            f"The labelmap's type is {store.voxel_type.name}, but must be one of "
            f"{', '.join(MASK_TYPES)}, or the image must say that it has labels."
        )
    with counting(store, 1, options, client) as (place, executor):
        folders, runs = [], []
        for name, part in (("object", (0.0, 0.6)), ("background", (0.6, 1.0))):
            folder = LabelFolder(place / name)
            continues = folder.was_begun
            partition = options.partition_of(store.shape)
            folder.begin({"labelmap": store.fingerprint(), "block": partition.block})
            job = counting_job(store, folder, options, inverse=name == "background")
            runs.append(LabelPhases(job, executor, continues, progress.part(*part)))
            folders.append(folder)
        components, characteristic = runs[0].find()[1].components, runs[0].measure()
        cavities = runs[1].find()[1].components
        for folder in folders:
            folder.remove()
        if options.folder:
            remove_if_empty(place)
    progress.advance(1.0)
    return Topology(components, cavities, components + cavities - characteristic, characteristic)
