"""Steps on an executor: a thread, a pool of `concurrent.futures`, or the client of Dask."""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from FuzzyVesselCoreLib.progress import POLL_INTERVAL, Progress

from .cuda.card_processes import CardProcesses
from .partition import Group
from .steps import Job
from .stopping import request_stop, withdraw_stop

TASKS_AHEAD = 4096  # submitted and not finished; a graph of all would be as large as the volume


def is_dask(client: Any) -> bool:
    """Whether an executor is the client of Dask's scheduler, whose workers may be far away."""
    return type(client).__module__.partition(".")[0] == "distributed"


def shares_memory(client: Any) -> bool:
    """Whether the tasks of an executor see this process's arrays."""
    return not (is_dask(client) or isinstance(client, ProcessPoolExecutor | CardProcesses))


def run_steps(
    step: Callable[[Job, Group], None],
    job: Job,
    groups: Sequence[Group],
    client: Any,
    progress: Progress,
) -> None:
    """Do a step for each group, in any order.

    After an error or a cancellation nothing more is begun, and it returns when no step is left in
    this process.
    """
    submit = partial(client.submit, pure=False) if is_dask(client) else client.submit
    finished: SimpleQueue = SimpleQueue()
    waiting, done = list(reversed(groups)), 0
    running: set[Any] = set()
    try:
        while done < len(groups):
            while waiting and len(running) < TASKS_AHEAD:
                task = submit(step, job, waiting.pop())
                running.add(task)
                task.add_done_callback(finished.put)
            try:
                task = finished.get(timeout=POLL_INTERVAL)
            except Empty:
                progress.check()
                continue
            running.discard(task)
            task.result()
            done += 1
            progress.advance(done / len(groups))
    except BaseException:
        _end(running, job, finished, client)
        raise


def _end(running: set, job: Job, finished: SimpleQueue, client: Any) -> None:
    request_stop(job.run)
    try:
        for task in list(running):
            task.cancel()
        while running and not is_dask(client):  # what Dask's workers still do is of no effect
            running.discard(finished.get())
    finally:
        withdraw_stop(job.run)
