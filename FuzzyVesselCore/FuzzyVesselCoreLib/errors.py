"""The errors that a user can meet; each message names the culprit and the way out."""


class FuzzyVesselError(Exception):
    """Base class: everything that this extension raises on purpose."""


class InputError(FuzzyVesselError, ValueError):
    """An input cannot be worked with: a volume, a seed, a file or an option."""


class DeviceError(FuzzyVesselError, RuntimeError):
    """The device that was asked for cannot be used, or its memory does not suffice."""


class NoRoomError(DeviceError):
    """The device's memory does not suffice, or the volume is too large to be numbered on it."""


class Cancelled(FuzzyVesselError):
    """The progress callback returned False; nothing was changed and nothing is left behind."""
