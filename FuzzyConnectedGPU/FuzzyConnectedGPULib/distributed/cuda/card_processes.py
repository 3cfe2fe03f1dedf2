"""A process for each card, so that the tasks of several cards do not share one interpreter."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, Self

from FuzzyVesselCoreLib.errors import InputError

from ..partition import Group
from ..steps import Job
from .cards import TASKS_PER_CARD, card_words


class _Place(NamedTuple):
    """Where a process takes one task at a time."""

    card: str
    channel: Connection


class CardProcesses:
    """An executor for `connectedness`: a process for each card, with its tasks in threads.

    A context manager. The processes start anew ("spawn"): a script that uses it needs
    ``if __name__ == "__main__":``. Source and target must be paths or zarr arrays.

    Parameters
    ----------
    device : str
        The cards, as of `BlockOptions`; "cuda" names all.

    Attributes
    ----------
    processes : list

    Raises
    ------
    InputError
        The device names no card.

    Examples
    --------
    >>> with CardProcesses("cuda") as client:  # doctest: +SKIP
    ...     connectedness("scan.zarr", seeds, affinity, "scene.zarr", client=client)
    >>> CardProcesses("cpu")
    Traceback (most recent call last):
    FuzzyVesselCoreLib.errors.InputError: The device 'cpu' names no card: give 'cuda'.
    """

    def __init__(self, device: str = "cuda") -> None:
        self._free: SimpleQueue[_Place] = SimpleQueue()
        self._places: list[_Place] = []
        self.processes: list[Any] = []
        cards = card_words(device)
        if not cards:
            raise InputError(f"The device {device!r} names no card: give 'cuda'.")
        self._pool = ThreadPoolExecutor(TASKS_PER_CARD * len(cards))
        for card in cards:
            self._start(card)

    def _start(self, card: str) -> None:
        context = get_context("spawn")
        pipes = [context.Pipe() for _ in range(TASKS_PER_CARD)]
        theirs = [their for _, their in pipes]
        process = context.Process(target=serve, args=(theirs,), daemon=True)
        process.start()
        self.processes.append(process)
        for own, their in pipes:
            their.close()  # so that the end of the process is noticed
            self._places.append(_Place(card, own))
            self._free.put(self._places[-1])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        for place in self._places:
            place.channel.close()
        for process in self.processes:
            process.join()

    def submit(self, do: Callable[..., None], step: Any, job: Job, group: Group) -> Future:
        """``do(step, job, group)`` on the next card that has room for a task."""
        return self._pool.submit(self._send, do, step, job, group)

    def _send(self, do: Callable[..., None], step: Any, job: Job, group: Group) -> None:
        place = self._free.get()
        try:
            place.channel.send((do, step, replace(job, device=place.card), group))
            error = place.channel.recv()
        except (EOFError, OSError) as lost:
            raise InputError(
                f"The process of {place.card} ended at {job.partition.box(group)}, perhaps for "
                "lack of memory: run the same again, finished blocks are kept."
            ) from lost
        finally:
            self._free.put(place)
        if error is not None:
            raise error


def serve(channels: list[Connection]) -> None:
    """What a process does: tasks from each channel, until it is closed."""
    threads = [Thread(target=_serve_one, args=(channel,)) for channel in channels]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _serve_one(channel: Connection) -> None:
    while True:
        try:
            task = channel.recv_bytes()
        except EOFError:
            return
        answer: BaseException | None = None
        try:
            do, *arguments = ForkingPickler.loads(task)
            do(*arguments)
        except BaseException as error:
            answer = _sendable(error)
        channel.send(answer)


def _sendable(error: BaseException) -> BaseException:
    """The error, or its words where it cannot be sent: nobody is to wait for it in vain."""
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
