"""Faults of the card and of CuPy: with device "auto" the CPU takes over and says so."""

import sys
import types
import warnings
from unittest.mock import patch

import numpy as np

from emulators.cuda import what_is_missing
from FuzzyConnectedGPULib import connectedness
from FuzzyVesselCoreLib.errors import DeviceError
from FuzzyVesselCoreLib.gpu import availability
from PotentialSkeletonLib import assembly, force_field, skeletonize

from .played_card import FAULTS, PlayedCard, installed
from .tally import Finding

VOLUME = np.random.default_rng(3).normal(100, 15, (9, 10, 11)).astype(np.int16)
SOLID = np.pad(np.ones((6, 7, 9), bool), 1)
# More moments than a run on the card has are not tried.
MOST_MOMENTS = 200


def cases():
    """Each fault at each moment of a run, for each algorithm; each way in which CuPy is broken."""
    for name, make in BROKEN_CUPY.items():
        yield "CuPy or driver", _bear_broken_cupy, (name, make)
    if what_is_missing():
        return
    for work in (_connect, _field, _skeleton):
        for fault in FAULTS:
            for moment in range(_moments(work, fault)):
                yield f"card: {fault}", _bear_card_fault, (work, fault, moment)


def _connect(device):
    scene = connectedness(VOLUME, [[4, 5, 5]], device=device)
    return scene.values, scene.device, scene.notes


def _field(device):
    # The direct sum: one method on both devices, which are compared.
    field = force_field(SOLID, device=device)
    return field.vectors, field.device, field.notes


def _skeleton(device):
    with patch.object(assembly, "GPU_THRESHOLD", 0):
        skeleton = skeletonize(SOLID, device=device)
    notes = [note for note in skeleton.report["warnings"] if "CPU" in note]
    device = skeleton.report["device"]
    if any("All but the force field" in note for note in notes):
        device = "the card, in part"
    return skeleton.voxels, device, notes


def _moments(work, fault):
    """How often the fault could happen in a run."""
    card = PlayedCard(fault)
    with installed(card), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        work("cuda")
    return min(card.count, MOST_MOMENTS)


def _bear_card_fault(work, fault, moment):
    wanted, *_ = work("cpu")
    card = PlayedCard(fault, moment)
    with installed(card), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            values, device, notes = work("auto")
        except DeviceError as error:
            raise Finding(f"{fault} at {moment}: no result by 'auto': {error}") from error
    if not card.happened:
        raise Finding(f"{fault} at {moment}: it did not happen")
    # The card itself may go on, in a way that needs less memory.
    if device == "cpu" and (len(notes) != 1 or "The CPU was used" not in notes[0]):
        raise Finding(f"{fault} at {moment}: computed on {device}, notes {notes}")
    if device != "cpu" and fault == "lost":
        raise Finding("a lost card gave a result")
    if not np.array_equal(values, wanted):
        raise Finding(f"{fault} at {moment}: another result than on the CPU")
    if card.all_pools.held and fault != "lost":
        raise Finding(f"{fault} at {moment}: {card.all_pools.held} bytes of the card are kept")
    if device == "cpu":
        _refused(work, PlayedCard(fault, moment))


def _refused(work, card):
    """With device "cuda" the same fault is an error with a way out."""
    with installed(card):
        try:
            work("cuda")
        except DeviceError as error:
            if "cpu" not in str(error) and "does not compile" not in str(error):
                raise Finding(f"no way out in: {error}") from error
            return
    raise Finding(f"{card.fault} at {card.at}: no error by 'cuda'")


# ---- CuPy and the driver


def _fake_cupy(**changes):
    """A module that says it is CuPy for CUDA 13; arrays of it are numpy's."""

    def no_device():
        raise RuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")

    cupy = types.ModuleType("cupy")
    runtime = types.SimpleNamespace(
        CUDARuntimeError=RuntimeError,
        getDeviceCount=lambda: 1,
        runtimeGetVersion=lambda: 13020,
        getDeviceProperties=lambda ordinal: {"name": b"Fake"},
    )
    cupy.cuda = types.SimpleNamespace(runtime=runtime)
    for name, value in changes.items():
        setattr(runtime, name, no_device if value == "no device" else value)
    return cupy


def _raises(error):
    def fail(*_):
        raise error

    return fail


class _Unimportable:
    """Put before all other finders: importing CuPy fails as `error` says."""

    def __init__(self, error):
        self._error = error

    def find_spec(self, name, path=None, target=None):
        if name == "cupy":
            raise self._error
        return None


BROKEN_CUPY = {
    "CuPy is missing": lambda: (None, 13000),
    "CuPy's library is missing": lambda: (ImportError("libcudart.so.13: cannot open"), 13000),
    "CuPy is broken": lambda: (ImportError("cannot import name 'ndarray'"), 13000),
    "no driver": lambda: (_fake_cupy(), None),
    "a driver for an older CUDA": lambda: (_fake_cupy(), 12040),
    "a driver for a far older CUDA": lambda: (_fake_cupy(), 11080),
    "no card": lambda: (_fake_cupy(getDeviceCount="no device"), 13000),
    "a driver that reports an error": lambda: (
        _fake_cupy(getDeviceCount=_raises(RuntimeError("cudaErrorSystemDriverMismatch"))), 13000),
    "a card whose properties cannot be read": lambda: (
        _fake_cupy(getDeviceProperties=_raises(RuntimeError("cudaErrorUnknown"))), 13000),
    "no headers": lambda: (_fake_cupy(), 13000),
}  # fmt: skip


def _bear_broken_cupy(name, make):
    cupy, driver = make()
    kept = {key: module for key, module in sys.modules.items() if key.split(".")[0] == "cupy"}
    for key in kept:
        del sys.modules[key]
    finder = None
    if isinstance(cupy, Exception):
        finder = _Unimportable(cupy)
        sys.meta_path.insert(0, finder)
    else:
        sys.modules["cupy"] = cupy
    earlier, availability.driver_version = availability.driver_version, lambda: driver
    availability.reset_cuda_status()
    try:
        _check_broken(name)
    finally:
        availability.driver_version = earlier
        if finder:
            sys.meta_path.remove(finder)
        sys.modules.pop("cupy", None)
        sys.modules.update(kept)
        availability.reset_cuda_status()


def _check_broken(name):
    values, device, _ = _connect("auto")
    wanted, *_ = _connect("cpu")
    if device != "cpu" or not np.array_equal(values, wanted):
        raise Finding(f"{name}: 'auto' computed on {device}")
    try:
        _connect("cuda")
    except DeviceError as error:
        ways_out = ("pip install", "device 'cpu'", "Install", "Restart", "Update")
        if not any(way in str(error) for way in ways_out):
            raise Finding(f"{name}: no way out in: {error}") from error
        return
    raise Finding(f"{name}: no error by 'cuda'")
