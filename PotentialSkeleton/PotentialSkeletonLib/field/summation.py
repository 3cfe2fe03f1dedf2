"""Runs one method over the solids of an object and keeps what it has to say."""

from FuzzyVesselCoreLib.compilation import compiled_code
from FuzzyVesselCoreLib.errors import DeviceError, InputError

from .convolution.fft_padding import Sizes
from .methods import CPU_METHODS, CUDA_METHODS


class Summation:
    """Sums the forces at the wanted voxels of one solid after another.

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
        self._method, self._strength, self.gpu = method, strength, gpu
        self.launch = None
        self._counts = {"fft": 0, "direct": 0}
        self._on_host = False
        self.host_bytes = 0

    def __call__(self, solid, vectors, report):
        """Write the forces at `solid.wanted` to vectors (K, J, I, 3) of its box."""
        report(0.0)
        try:
            with compiled_code():
                self._sum(solid, vectors, report)
        except MemoryError as error:
            raise DeviceError(
                f"The memory does not suffice for the field of {solid.classes.size} voxels: "
                f"{error}. Crop the labelmap, or use method 'direct-serial', which is slow."
            ) from error

    @property
    def used(self):
        """The method that most points were summed by."""
        if self._method != "auto":
            return self._method
        if self._counts["fft"] >= self._counts["direct"]:
            return "fft"
        return "direct-serial" if self.gpu is None else "cuda-shared"

    def notes(self):
        """That two methods shared the work, or that the card's memory was short, if so."""
        notes = []
        if self._method == "auto" and all(self._counts.values()):
            notes.append(
                f"{self._counts['fft']} voxels were summed by the convolution and "
                f"{self._counts['direct']} directly, whichever was estimated to be faster."
            )
        if self._on_host and self.gpu is not None:
            notes.append(
                f"{self.gpu.name} has too little memory for the whole convolution: parts of it "
                "waited in the computer's memory, which takes longer."
            )
        return tuple(notes)

    def _sum(self, solid, vectors, report):
        from .methods import automatic as cheapest
        from .methods import direct_cuda, direct_serial, fft_convolution

        task, on_host = (solid, self._strength, vectors, report), False
        if self._method == "auto":
            counts, on_host, launch = cheapest.sum_forces(*task, self.gpu)
            self.launch = launch or self.launch
            for kind, count in zip(self._counts, counts):
                self._counts[kind] += count
            self._count_bytes(solid, counts[0] > 0)
        elif self._method == "fft":
            on_host = fft_convolution.sum_forces(*task, self.gpu)
            self._count_bytes(solid, True)
        elif self._method == "direct-serial":
            direct_serial.sum_forces(*task)
            self._count_bytes(solid, False)
        else:
            self.launch = direct_cuda.sum_forces(*task, self.gpu, self._method)
        self._on_host = self._on_host or on_host

    def _count_bytes(self, solid, convolves):
        size = 3 * 4 * solid.classes.size + solid.classes.nbytes
        if convolves and self.gpu is None:
            size += Sizes(solid.classes.shape).waiting_bytes
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
