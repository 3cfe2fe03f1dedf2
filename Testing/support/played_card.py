"""A card that fails when it is told to: `CudaDevice` itself, with CuPy's part played by the CPU."""

import types
from contextlib import ExitStack, contextmanager
from functools import cached_property

from emulators.cuda import EmulatedDevice
from emulators.cuda.arrays import GuardedNumpy
from emulators.cuda.fourier import Fourier
from FuzzyVesselCoreLib.errors import DeviceError
from FuzzyVesselCoreLib.gpu import selection
from FuzzyVesselCoreLib.gpu.device import CudaDevice


class OutOfMemoryError(MemoryError):
    """CuPy's, in name and place."""


class CUDARuntimeError(RuntimeError):
    """CuPy's, in name and place."""


CUDARuntimeError.__module__ = "cupy_backends.cuda.api.runtime"
OutOfMemoryError.__module__ = "cupy.cuda.memory"

FAULTS = ("out of memory", "lost", "does not compile")


class PlayedCard(EmulatedDevice):
    """Behaves as the real `CudaDevice` at its borders: entering, leaving, memory, errors.

    Parameters
    ----------
    fault : str
        One of `FAULTS`: an allocation fails; any call fails and all later ones, as after an illegal
        address or where a card falls off the bus; a kernel does not compile.
    at : int
        At which allocation, call or kernel, counted from 0. None: never.
    """

    __enter__ = CudaDevice.__enter__
    __exit__ = CudaDevice.__exit__
    _allocate = CudaDevice._allocate
    synchronize = CudaDevice.synchronize
    free_fourier_plans = CudaDevice.free_fourier_plans
    free_unused_memory = CudaDevice.free_unused_memory
    peak_bytes = 0

    def __init__(self, fault=None, at=None):
        super().__init__()
        self.ordinal, self.name = 0, "cuda:0 (played)"
        self.fault, self.at, self.count, self.happened = fault, at, 0, False
        self.all_pools = Pool(self)
        self.pool = None
        self._leave = ExitStack()
        self.xp = CountedNumpy(self)
        self.allocate = None
        del self.fourier  # as on the real card, the plans end with a block, and are made anew

    @cached_property
    def fourier(self):
        return Fourier(self.xp)

    def put(self, array):
        self.happens("lost")
        return self.xp.asarray(array)

    def get(self, array):
        self.happens("lost")
        return super().get(array)

    def kernel(self, path, name, defines=()):
        if self.happens("does not compile"):
            raise DeviceError(f"a CUDA kernel does not compile for sm_90:\n{path}: error")
        kernel = super().kernel(path, name, defines)
        launch = kernel.__call__

        def watched(*args, **options):
            self.happens("lost")
            return launch(*args, **options)

        watched.set_constant = kernel.set_constant
        return watched

    def free_memory(self):
        return self._memory

    def happens(self, fault):
        """Count a call at which the fault may happen; raise or tell that it does."""
        if self.happened and self.fault == "lost":
            raise CUDARuntimeError("cudaErrorIllegalAddress: an illegal memory access")
        if fault != self.fault:
            return False
        now = self.count == self.at
        self.count += 1
        self.happened |= now
        if now and fault == "lost":
            raise CUDARuntimeError("cudaErrorIllegalAddress: an illegal memory access")
        return now


class Pool:
    """A memory pool that knows what it holds, and whether it was emptied."""

    def __init__(self, card):
        self._card = card
        self._short = False
        self.held = 0

    def malloc(self, size):
        again, self._short = self._short, False
        if again:  # memory that was kept for later runs is freed, and it is not enough
            raise OutOfMemoryError
        if self._card.happens("out of memory"):
            self._short = True
            raise OutOfMemoryError
        self.held += size

    def free_all_blocks(self):
        self._card.happens("lost")
        self.held = 0

    def total_bytes(self):
        return self.held

    used_bytes = total_bytes

    def free_bytes(self):
        return 0


class CountedNumpy(GuardedNumpy):
    """The played CuPy: what makes an array asks the pool first."""

    def __init__(self, card):
        super().__init__()
        self._card = card
        memory = types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError)
        stream = types.SimpleNamespace(synchronize=lambda: card.happens("lost"))
        self.cuda = types.SimpleNamespace(
            memory=memory,
            Device=lambda ordinal: _nothing(),
            MemoryPool=lambda: card.all_pools,
            using_allocator=self._using,
            get_current_stream=lambda: stream,
        )

    @contextmanager
    def _using(self, allocate):
        self._card.allocate = allocate
        try:
            yield
        finally:
            self._card.allocate = None

    def empty(self, shape, dtype=float):
        array = super().empty(shape, dtype)
        if self._card.allocate is not None:
            self._card.allocate(array.nbytes)
        return array


@contextmanager
def _nothing():
    yield


@contextmanager
def installed(card):
    """Let `choose_device` find this card, which works as far as the trial shows."""
    earlier = selection.CudaDevice, selection.cuda_status
    selection.CudaDevice = lambda ordinal=0: card
    selection.cuda_status = lambda ordinal=0: None
    try:
        yield card
    finally:
        selection.CudaDevice, selection.cuda_status = earlier
