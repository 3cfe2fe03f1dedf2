"""The device that a user's word names: "auto", "cpu", "cuda" or "cuda:1"."""

import re
from typing import Literal

from ..errors import DeviceError, InputError, NoCudaError
from .availability import cuda_status, device_failed, is_cuda_error, reset_cuda_status
from .device import CudaDevice


def choose_device(device: str = "auto") -> CudaDevice | Literal["cpu"]:
    """The device that a user's word names.

    Parameters
    ----------
    device : str
        "auto" (CUDA where it can be used, else the CPU), "cpu", "cuda" (the first GPU), "cuda:1".

    Raises
    ------
    InputError
        There is no such word.
    DeviceError
        CUDA was asked for and cannot be used; the message says what is missing.

    Examples
    --------
    >>> choose_device("cpu")
    'cpu'
    """
    if device == "cpu":
        return "cpu"
    if device == "auto":
        try:
            return "cpu" if cuda_status() else _open(0)
        except DeviceError:
            return "cpu"
    named = re.fullmatch(r"cuda(?::(\d+))?", device) if isinstance(device, str) else None
    if not named:
        raise InputError(f"unknown device {device!r}: use auto, cpu, cuda or cuda:N (N from 0)")
    ordinal = int(named[1] or 0)
    reason = cuda_status(ordinal)
    if reason:
        raise NoCudaError(device, reason)
    return _open(ordinal)


def _open(ordinal: int) -> CudaDevice:
    """The device, which worked when it was checked; `DeviceError` if it does not any more."""
    try:
        return CudaDevice(ordinal)
    except Exception as error:
        if not is_cuda_error(error):
            raise
        reset_cuda_status()
        raise device_failed(f"cuda:{ordinal}", error) from error
