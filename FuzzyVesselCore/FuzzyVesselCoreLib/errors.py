"""The errors raised on purpose; each message names the cause and how to fix it."""


class FuzzyVesselError(Exception):
    """Base class of all errors that this extension raises on purpose."""


class InputError(FuzzyVesselError, ValueError):
    """An input is invalid: a volume, a seed, a file or an option."""


class DeviceError(FuzzyVesselError, RuntimeError):
    """The requested device cannot be used, or has too little memory."""


class DeviceMemoryError(DeviceError):
    """The device has too little memory, or the volume has too many voxels for it to number."""


class Cancelled(FuzzyVesselError):
    """The progress callback returned False; nothing was changed."""
