"""Cards for the tasks of a run: one task at a time on each card of this process."""

import re
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from FuzzyVesselCoreLib.errors import CpuUsedNote, DeviceError
from FuzzyVesselCoreLib.gpu.availability import cuda_status
from FuzzyVesselCoreLib.gpu.device import CudaDevice
from FuzzyVesselCoreLib.gpu.selection import choose_device

Result = TypeVar("Result")

TASKS_PER_CARD = 2  # one is read or written while the card works on the other
SEVERAL = re.compile(r"cuda:\d+(,cuda:\d+)+")

_busy: set[str] = set()  # words such as "cuda:1"
_changed = threading.Condition()


def card_words(device: str) -> list[str]:
    """The cards that a user's word names for a run over blocks; none: the CPU.

    "cuda" names all that this process sees (`CUDA_VISIBLE_DEVICES` limits them, as `dask-cuda` does
    for its workers), "cuda:1" one of them, "cuda:0,cuda:1" two, and "auto" all, or none where there
    is none.

    Raises
    ------
    InputError, DeviceError
        As of `choose_device`.
    """
    if isinstance(device, str) and SEVERAL.fullmatch(device):
        return [card for word in device.split(",") for card in card_words(word)]
    if choose_device(device) == "cpu":
        return []
    if device not in ("auto", "cuda"):
        return [device]
    return [f"cuda:{n}" for n in range(_card_count()) if n == 0 or cuda_status(n) is None]


def _card_count() -> int:
    import cupy

    return cupy.cuda.runtime.getDeviceCount()


def compute(
    device: str, on_cuda: Callable[[CudaDevice], Result], on_cpu: Callable[[], Result]
) -> Result:
    """The result of a task on the first card that is free, or on the CPU.

    With "auto" a task that fails on a card is computed on the CPU, with a warning.
    """
    cards = card_words(device)
    if not cards:
        return on_cpu()
    try:
        with _free_card(cards) as gpu, gpu:
            return on_cuda(gpu)
    except DeviceError as error:
        if device != "auto":
            raise
        warnings.warn(CpuUsedNote(error), stacklevel=2)
    return on_cpu()


@contextmanager
def _free_card(cards: list[str]) -> Iterator[CudaDevice]:
    with _changed:
        _changed.wait_for(lambda: not _busy.issuperset(cards))
        card = next(name for name in cards if name not in _busy)
        _busy.add(card)
    try:
        gpu = choose_device(card)
        assert gpu != "cpu"
        yield gpu
    finally:
        with _changed:
            _busy.discard(card)
            _changed.notify_all()
