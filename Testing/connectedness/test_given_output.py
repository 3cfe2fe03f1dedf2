"""A scene that is written into an array of the caller's, on CPU and CUDA."""

import numpy as np
import pytest

from emulators.cuda import EmulatedDevice
from FuzzyConnectedGPULib import GaussianAffinity, connectedness, fuzzy_connectedness
from FuzzyVesselCoreLib.errors import InputError

AFFINITY = GaussianAffinity(100, 30, 15)
SEEDS = [[20, 11, 12]]


@pytest.fixture(scope="module")
def volume():
    return np.random.default_rng(1).normal(100, 25, (40, 30, 35)).clip(0, 255).astype(np.int16)


@pytest.fixture(scope="module")
def wanted(volume):
    return connectedness(volume, SEEDS, AFFINITY, solver="dial").values


@pytest.fixture
def emulated(monkeypatch):
    monkeypatch.setattr(fuzzy_connectedness, "choose_device", lambda word: EmulatedDevice())


def nan(shape):
    return np.full(shape, np.nan, np.float32)


@pytest.mark.parametrize("solver", ["exact", "blocks", "dial", "kfoe"])
def test_every_solver_of_the_cpu_writes_into_it(volume, wanted, solver):
    out = nan(volume.shape)
    scene = connectedness(volume, SEEDS, AFFINITY, solver=solver, device="cpu", out=out)
    assert np.shares_memory(scene.values, out)
    assert scene.values.shape == out.shape
    np.testing.assert_array_equal(out, wanted)


def test_contraction_writes_into_it(volume, wanted, emulated):
    out = nan(volume.shape)
    scene = connectedness(volume, SEEDS, AFFINITY, device="cuda", out=out)
    assert np.shares_memory(scene.values, out)
    np.testing.assert_array_equal(out, wanted)


def test_a_scene_goes_on_in_its_own_memory(volume):
    seeds = [*SEEDS, [1, 2, 3]]
    wanted = connectedness(volume, seeds, AFFINITY, device="cpu").values
    out = nan(volume.shape)
    first = connectedness(volume, SEEDS, AFFINITY, device="cpu", out=out)
    assert (first.values != wanted).any()
    connectedness(volume, seeds, AFFINITY, device="cpu", start=first, out=out)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize(
    ("out", "culprit"),
    [
        ([0.0], "out is a list; a float32 array of the volume's shape"),
        (np.empty((40, 30, 35)), "out is float64 of shape"),
        (nan((35, 30, 40)), r"shape \(35, 30, 40\)"),
        (nan((35, 30, 40)).T, "C order"),
        (np.broadcast_to(np.float32(0), (40, 30, 35)), "writeable and in C order"),
    ],
)
def test_what_cannot_be_written_is_refused(volume, out, culprit):
    with pytest.raises(InputError, match=culprit):
        connectedness(volume, SEEDS, AFFINITY, device="cpu", out=out)


def test_an_input_is_not_overwritten(volume):
    floats = volume.astype(np.float32)
    with pytest.raises(InputError, match="shares its memory with the volume"):
        connectedness(floats, SEEDS, AFFINITY, device="cpu", out=floats)
    mask = np.ones(volume.shape, np.float32)
    with pytest.raises(InputError, match="shares its memory with the mask"):
        connectedness(volume, SEEDS, AFFINITY, mask=mask, device="cpu", out=mask)
    np.testing.assert_array_equal(floats, volume)
    assert mask.all()
