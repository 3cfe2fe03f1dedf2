"""What the contrast model compiles while the device is opened: what a run needs, and no more."""

import sys
from pathlib import Path

import numpy as np
import pytest

from emulators.cuda import EmulatedDevice
from FuzzyConnectedGPULib.contrast import contrast_model, early_kernels
from FuzzyConnectedGPULib.contrast.evidence import evidence_finder
from FuzzyVesselCoreLib.errors import DeviceError

SIDE = 24


@pytest.fixture
def used(monkeypatch):
    """Files and macros of the kernels that are used on an emulated device."""
    used = set()

    class Device(EmulatedDevice):
        def kernel(self, path, name, defines=()):
            used.add((Path(path), tuple(defines)))
            return super().kernel(path, name, defines)

    monkeypatch.setattr(contrast_model, "choose_device", lambda device: Device())
    return used


@pytest.mark.parametrize("kind", [np.int16, np.float32])
def test_all_kernels_of_a_run_are_compiled_early(used, monkeypatch, kind):
    begun = []
    monkeypatch.setattr(
        early_kernels, "compile_early", lambda ordinal, files: begun.append((ordinal, files))
    )
    volume = np.random.default_rng(0).normal(0, 10, (SIDE,) * 3)
    volume[:, 3:6, 3:6] += 600
    contrast_model.contrast_connectedness(volume.astype(kind), [[4, 4, 4]], device="cuda:1")
    ((ordinal, files),) = begun
    assert ordinal == 1
    assert set(files) == used
    assert len(files) == len(used)


def test_a_run_on_cuda_does_without_numba(used, monkeypatch):
    """It takes as long to import as CuPy; compiled functions are for the CPU."""
    monkeypatch.setitem(sys.modules, "numba", None)
    for name in [name for name in sys.modules if name.startswith("FuzzyConnectedGPULib.contrast.")]:
        if hasattr(sys.modules[name], "njit") or hasattr(sys.modules[name], "compiled"):
            monkeypatch.delitem(sys.modules, name)
    volume = np.random.default_rng(0).normal(0, 10, (SIDE,) * 3)
    volume[:, 3:6, 3:6] += 600
    scene, _ = contrast_model.contrast_connectedness(volume, [[4, 4, 4]], device="cuda")
    assert scene.values[20, 4, 4] >= 0.5
    with pytest.raises(DeviceError, match="pip install numba"):
        evidence_finder()(volume, (1, 1, 1), (4, 4, 4))


def test_other_types_become_float32_before_they_reach_the_device():
    assert early_kernels.files(np.dtype(np.int32)) == early_kernels.files(np.dtype(np.float32))


def test_nothing_is_compiled_for_the_cpu(monkeypatch):
    monkeypatch.setattr(early_kernels, "compile_early", None)
    early_kernels.compile_kernels_early(np.dtype(np.int16), "cpu")
