"""What a run needs of other processes that do its steps: those of Dask, or of this machine."""

from concurrent.futures import CancelledError, ProcessPoolExecutor
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from .cuda.card_processes import CardProcesses
from .needs import RunNeed
from .partition import Group
from .steps import Job

PROCESS = 400e6  # bytes of a worker before its first task: Python, its packages, compiled code
MOST_USED = 0.95  # share of its memory at which Dask ends a worker
MAX_JOB = 16 << 20  # bytes that go to a worker with each task


def is_dask(client: Any) -> bool:
    """Whether an executor is the client of Dask's scheduler, whose workers may be far away."""
    return type(client).__module__.partition(".")[0] == "distributed"


def shares_memory(client: Any) -> bool:
    """Whether the tasks of an executor see this process's arrays."""
    return not (is_dask(client) or isinstance(client, ProcessPoolExecutor | CardProcesses))


def refuse_memory(client: Any, arrays: list[Any]) -> None:
    """Refuse arrays that only this process has, where others work.

    Raises
    ------
    InputError
    """
    if shares_memory(client):
        return
    for array in arrays:
        in_memory = "Memory" in type(getattr(array, "store", None)).__name__
        if in_memory or isinstance(array, np.ndarray):
            raise InputError(
                "Other processes cannot reach an array in the memory of this one: give a path, or "
                "a zarr array on a disk."
            )


def refuse_large(client: Any, job: Job) -> None:
    """Refuse a source that would be sent with every task, such as a Dask array of a NumPy array.

    Raises
    ------
    InputError
    """
    if shares_memory(client):
        return
    try:
        size = _sent_bytes(client, job)
    except Exception as error:
        raise InputError(
            f"The source, the mask or the target cannot be sent to other processes ({error}): "
            "give a path, or a zarr array on a disk."
        ) from error
    if size > MAX_JOB:
        raise InputError(
            f"The source or the mask would be sent with each task, {size / 1e6:,.0f} MB: give a "
            "path, or an array whose chunks are read from a disk."
        )


def _sent_bytes(client: Any, job: Job) -> int:
    if is_dask(client):
        from distributed.protocol.pickle import dumps

        return len(dumps(job))
    return len(ForkingPickler.dumps(job))


def require_worker_memory(client: Any, need: RunNeed) -> None:
    """Refuse a run whose tasks do not fit into the memory of Dask's workers.

    Raises
    ------
    InputError
        Names the worker that has least.
    """
    if not is_dask(client):
        return
    for name, worker in client.scheduler_info(n_workers=-1)["workers"].items():
        threads, limit = worker["nthreads"], worker["memory_limit"]
        needed = PROCESS + threads * need.task_memory
        if limit and needed > MOST_USED * limit:
            raise InputError(
                f"Dask's worker {name} has {limit / 1e9:.3g} GB for {threads} tasks at a time, "
                f"which need up to {needed / 1e9:.3g} GB: give workers fewer threads (a block uses "
                "all cores), more memory (memory_limit), or smaller blocks."
            )


def lost(
    error: BaseException, client: Any, job: Job, group: Group | None, need: int
) -> BaseException:
    """What is said of a task that no worker of Dask could do; other errors as they are."""
    if not is_dask(client) or group is None:
        return error
    box = job.partition.box(group)
    if type(error).__name__ == "KilledWorker":
        return InputError(
            f"Dask's workers ended again and again at the voxels {box}, perhaps because a task "
            f"needs up to {need / 1e9:.3g} GB: give workers more memory or fewer threads, or "
            "smaller blocks. What is finished is kept."
        )
    if isinstance(error, CancelledError) or type(error).__module__.startswith("distributed"):
        return InputError(
            f"Dask's scheduler or its workers were lost at the voxels {box} ({error}): start them "
            "anew and run the same again. What is finished is kept."
        )
    return error
