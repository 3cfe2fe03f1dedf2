"""Runs one method over the solids of an object and keeps what it has to say."""

import numpy as np

from FuzzyVesselCommon.errors import DeviceError, InputError

from . import CPU_METHODS, CUDA_METHODS, cheapest, direct_cuda, fft_convolution


class Summation:
    """Sums the forces at the points of one solid after another.

    Parameters
    ----------
    method : str
        One of `FORCE_METHODS`.
    strength : int
    gpu : CudaDevice, optional
        By default the CPU is used.

    Attributes
    ----------
    launch : Launch or None
        The last launch of a direct method on CUDA.
    host_bytes : int
        The most that one solid needed of the host's memory, about.
    """

    def __init__(self, method, strength, gpu=None):
        self._method, self._strength, self._gpu = method, strength, gpu
        self.launch = None
        self._points = {"direct": 0, "fft": 0}
        self.host_bytes = 0

    def __call__(self, solid, report):
        """Forces (float64, (n, 3)) at `solid.points`."""
        if not solid.points.size:
            return np.empty((0, 3))
        report(0.0)
        try:
            return self._sum(solid, report)
        except MemoryError as error:
            raise DeviceError(
                f"The memory does not suffice for the field of {solid.points.size} voxels: "
                f"{error}. Crop the labelmap, or use method 'direct-serial', which is slow."
            ) from error

    @property
    def used(self):
        """The method that most points were summed by."""
        if self._method != "auto":
            return self._method
        if self._points["fft"] >= self._points["direct"]:
            return "fft"
        return "direct-serial" if self._gpu is None else "cuda-shared"

    def notes(self):
        """That two methods shared the work, where they did."""
        if self._method != "auto" or not all(self._points.values()):
            return ()
        return (
            f"{self._points['fft']} voxels were summed by the convolution and "
            f"{self._points['direct']} directly, whichever was estimated to be faster.",
        )

    def _sum(self, solid, report):
        options = (solid, self._strength, report)
        if self._method == "auto":
            forces, convolved, launch = cheapest.sum_forces(*options, self._gpu)
            self.launch = launch or self.launch
            self._points["fft"] += convolved
            self._points["direct"] += len(forces) - convolved
            self._count_bytes(solid, convolved > 0)
            return forces
        self._count_bytes(solid, self._method == "fft")
        if self._method == "fft":
            return fft_convolution.sum_forces(*options, self._gpu)
        if self._method == "direct-serial":
            from . import direct_serial

            return direct_serial.sum_forces(*options)
        forces, self.launch = direct_cuda.sum_forces(*options, self._gpu, self._method)
        return forces

    def _count_bytes(self, solid, convolves):
        size = 3 * 8 * solid.points.size + solid.classes.nbytes
        if convolves and self._gpu is None:
            size += fft_convolution.needed_bytes(solid.classes.shape, on_cuda=False)
        self.host_bytes = max(self.host_bytes, size)


def checked_device(method, device):
    """The word for the device to be chosen, where the method runs on one kind only."""
    if method not in CUDA_METHODS and device not in ("auto", "cpu"):
        raise InputError(
            f"Method {method!r} runs on the CPU only; leave the device {device!r} out, or choose "
            "another method."
        )
    if method not in CPU_METHODS and device == "cpu":
        raise InputError(
            f"Method {method!r} runs on CUDA only; leave the device 'cpu' out, or choose 'fft'."
        )
    if method not in CUDA_METHODS:
        return "cpu"
    return "cuda" if device == "auto" and method not in CPU_METHODS else device
