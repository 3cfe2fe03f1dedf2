"""Runs over blocks that count, and write no target."""

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from FuzzyVesselCoreLib.files.folder_lock import FolderLock

from ..needs import require_memory
from ..stores import Store
from .object_blocks import ObjectBlocks
from .runs.label_folder import LabelFolder
from .runs.label_job import LabelJob
from .runs.label_needs import label_need
from .runs.label_options import LabelOptions

NOWHERE = np.empty((0, 3), np.int64)


@contextmanager
def counting(
    store: Store, margin: int, options: LabelOptions, client: Any
) -> Iterator[tuple[Path, Any]]:
    """Refuse what does not fit, and hold a folder, of the options or a temporary one.

    Parameters
    ----------
    store : Store
    margin : int
        Voxels that blocks are read with.
    options : LabelOptions
    client : executor or None

    Yields
    ------
    tuple of Path and executor
        The folder, and the client or a thread.
    """
    store.refuse_missing()
    need = label_need(options.partition_of(store.shape), store.voxel_type.itemsize, margin)
    require_memory(need, options.memory_limit)
    with ExitStack() as stack:
        place = options.folder or stack.enter_context(
            tempfile.TemporaryDirectory(prefix="fuzzy-vessel-")
        )
        stack.enter_context(FolderLock(Path(place)))
        yield Path(place), client or stack.enter_context(ThreadPoolExecutor(1))


def counting_job(
    store: Store, folder: LabelFolder, options: LabelOptions, inverse: bool = False
) -> LabelJob:
    """The job of a run that was begun in a folder, on the object or on all other voxels."""
    begun, partition = store.begun_in(folder), options.partition_of(store.shape)
    objects = ObjectBlocks(begun, 1, 0, None, NOWHERE, inverse)
    return LabelJob(uuid4().hex, objects, begun, NOWHERE, options, partition, folder)
