"""The errors raised on purpose; each message names the cause and how to fix it."""

from typing import Any


class FuzzyVesselError(Exception):
    """Base class of all errors that this extension raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process gets the same error, whatever its ``__init__`` takes."""
        return Exception.__new__, (type(self), *self.args), self.__dict__


class InputError(FuzzyVesselError, ValueError):
    """An input is invalid: a volume, a seed, a file or an option."""


class DeviceError(FuzzyVesselError, RuntimeError):
    """The requested device cannot be used, or has too little memory."""


class DeviceMemoryError(DeviceError):
    """The device has too little memory, or the volume has too many voxels for it to number."""


class NoCudaError(DeviceError):
    """A GPU was asked for that cannot be used; `reason` says why, and how to fix it."""

    def __init__(self, device: str, reason: str) -> None:
        self.reason = reason
        super().__init__(f"{device} cannot be used: {reason}")


class PackageMissing(DeviceError):
    """A package is not installed without which no device can be used."""


class Cancelled(FuzzyVesselError):
    """The progress callback returned False; nothing was changed."""


class InputRemoved(Cancelled):
    """An input, `name` in quotes, left the scene during the run; nothing was changed."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"Cancelled: {name} was removed; nothing was changed.")


class CpuUsedNote(str):
    """Device "auto" went on with the CPU; `reason` is the exception of the GPU."""

    reason: Exception

    def __new__(cls, reason: Exception) -> "CpuUsedNote":
        self = super().__new__(cls, f"The CPU was used: {reason}")
        self.reason = reason
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason,)
