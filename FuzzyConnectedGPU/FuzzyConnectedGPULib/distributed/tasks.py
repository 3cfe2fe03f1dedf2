"""Steps on an executor: a thread, a pool of `concurrent.futures`, or the client of Dask."""

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from FuzzyVesselCoreLib.progress import POLL_INTERVAL, Progress

from .partition import Group
from .steps import Job, do
from .stopping import request_stop, withdraw_stop
from .workers import is_dask, lost, shares_memory

TASKS_AHEAD = 4096  # submitted and not finished; a graph of all would be as large as the volume
Step = Callable[[Job, Group], None]


def run_steps(
    step: Step,
    job: Job,
    groups: Sequence[Group],
    client: Any,
    progress: Progress,
    task_memory: int = 0,
) -> None:
    """Do a step for each group, in any order; `task_memory` is told where workers end.

    After an error or a cancellation nothing more is begun, and it returns when no step is left in
    this process.
    """
    submit = partial(client.submit, pure=False) if is_dask(client) else client.submit
    finished: SimpleQueue = SimpleQueue()
    waiting, done = list(reversed(groups)), 0
    running: dict[Any, Group] = {}
    group = None
    try:
        while done < len(groups):
            while waiting and len(running) < TASKS_AHEAD:
                group = waiting.pop()
                task = submit(do, step, job.part(group) if isinstance(job, Job) else job, group)
                running[task] = group
                task.add_done_callback(finished.put)
            try:
                task = finished.get(timeout=POLL_INTERVAL)
            except Empty:
                progress.check()
                if is_dask(client) and client.status in ("closing", "closed"):
                    raise CancelledError("the client is closed") from None
                continue
            group = running.pop(task)
            if not is_dask(client) or task.status in ("error", "cancelled"):
                task.result()  # what is finished is not fetched: its worker may be lost by now
            done += 1
            progress.advance(done / len(groups))
    except BaseException as error:
        _end(running, job, finished, client)
        told = lost(error, client, job, group, task_memory)
        if told is error:
            raise
        raise told from error


def _end(running: dict, job: Job, finished: SimpleQueue, client: Any) -> None:
    request_stop(job.run)
    if not shares_memory(client):
        job.folder.request_stop(job.run)
    try:
        for task in list(running):
            with suppress(Exception):  # Dask's client may be closed
                task.cancel()
        while running and not is_dask(
            client
        ):  # Dask's workers end what they do, or notice the stop
            running.pop(finished.get())
    finally:
        withdraw_stop(job.run)
