"""One method over all solids of an object, and what there is to say about it."""

from functools import partial
from typing import TYPE_CHECKING, Any

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.errors import DeviceError, InputError
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.translation import tr as _

from .convolution.fft_padding import Sizes
from .methods import CPU_METHODS, CUDA_METHODS
from .methods.mirror_plane import clear_across
from .solid import ChargedSolid

if TYPE_CHECKING:
    from .methods.direct_cuda import Launch
    from .methods.interface import ForceMethod, SumResult


class Summation:
    """Sums the forces at the targets of one solid after another.

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
        About the most host memory that one solid needed.
    """

    def __init__(self, method: str, strength: int, gpu: Any = None) -> None:
        self._method, self._strength, self.gpu = method, strength, gpu
        self.launch: Launch | None = None
        self._convolved = self._direct = 0
        self._on_host = False
        self.host_bytes = 0

    def __call__(self, solid: ChargedSolid, vectors: Any, progress: Progress) -> None:
        """Write the forces at the targets of a solid to vectors (K, J, I, 3) of its box.

        Raises
        ------
        DeviceError
            numba is missing, or the memory does not suffice.
        Cancelled
            The progress callback returned False.
        """
        progress.advance(0.0)
        try:
            with needs_numba():
                sum_forces = method_named(self._method)
                result = sum_forces(solid, self._strength, vectors, progress, self.gpu)
                clear_across(solid, vectors)
        except MemoryError as error:
            raise DeviceError(
                f"The memory does not suffice for the field of {solid.classes.size} voxels: "
                f"{error}. Crop the labelmap, or use method 'direct-serial', which is slow."
            ) from error
        self._keep(solid, result)

    @property
    def used(self) -> str:
        """The method that most targets were summed by."""
        if self._method != "auto":
            return self._method
        if self._convolved >= self._direct:
            return "fft"
        return "direct-serial" if self.gpu is None else "cuda-shared"

    def notes(self) -> tuple[str, ...]:
        """Return notes: that two methods were used, that the device's memory did not suffice."""
        notes = []
        if self._method == "auto" and self._convolved and self._direct:
            notes.append(
                _(
                    "{convolved} voxels were summed by the convolution and {direct} directly, "
                    "whichever was estimated to be faster."
                ).format(convolved=self._convolved, direct=self._direct)
            )
        if self._on_host and self.gpu is not None:
            notes.append(
                _(
                    "{gpu} has too little memory for the whole convolution: parts of it waited "
                    "in the computer's memory, which takes longer."
                ).format(gpu=self.gpu.name)
            )
        return tuple(notes)

    def _keep(self, solid: ChargedSolid, result: "SumResult") -> None:
        self.launch = result.launch or self.launch
        self._convolved += result.convolved
        self._direct += result.direct
        self._on_host = self._on_host or result.on_host
        size = 3 * 4 * solid.classes.size + solid.classes.nbytes
        if self.gpu is None and (result.convolved or self._method == "fft"):
            size += Sizes(solid.classes.shape).waiting_bytes
        self.host_bytes = max(self.host_bytes, size)


def method_named(name: str) -> "ForceMethod":
    """Return a method by its name in `FORCE_METHODS`."""
    from .methods import automatic, direct_cuda, direct_serial, fft_convolution

    methods: dict[str, ForceMethod] = {
        "auto": automatic.sum_forces,
        "fft": fft_convolution.sum_forces,
        "direct-serial": direct_serial.sum_forces,
    }
    return methods.get(name) or partial(direct_cuda.sum_forces, variant=name)


def checked_device(method: str, device: str) -> str:
    """Return the device to choose, where the method runs on one kind only; raises `InputError`."""
    if method not in CUDA_METHODS and device not in ("auto", "cpu"):
        raise InputError(
            _(
                "Method {method!r} runs on the CPU only; leave the device {device!r} out, or "
                "choose another method."
            ).format(method=method, device=device)
        )
    if method not in CPU_METHODS and device == "cpu":
        raise InputError(
            _(
                "Method {method!r} runs on CUDA only; leave the device 'cpu' out, or choose 'fft'."
            ).format(method=method)
        )
    if method not in CUDA_METHODS:
        return "cpu"
    return "cuda" if device == "auto" and method not in CPU_METHODS else device
