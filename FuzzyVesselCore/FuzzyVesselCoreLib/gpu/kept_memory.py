"""Device memory that is kept from run to run, until a run has too little."""

import weakref
from typing import Protocol


class KeepsDeviceMemory(Protocol):
    """Keeps device memory for a run that may never come."""

    def free_device_memory(self) -> None:
        """Drop every reference to it."""


_keepers: "weakref.WeakSet[KeepsDeviceMemory]" = weakref.WeakSet()


def keeps_device_memory(keeper: KeepsDeviceMemory) -> None:
    """Have a keeper called when a run needs its memory; it is not kept alive by this."""
    _keepers.add(keeper)


def free_kept_memory() -> None:
    """Free what is kept, on all devices; what the run itself uses stays until it has ended."""
    for keeper in list(_keepers):
        keeper.free_device_memory()
