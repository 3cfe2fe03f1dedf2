"""Device memory of contraction, as CuPy's pool would hold it, and on a real card."""

import gc

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from emulators.cuda import EmulatedDevice
from FuzzyConnectedGPULib import connectedness
from FuzzyConnectedGPULib.problem import state_problem
from FuzzyConnectedGPULib.solvers.cpu import dial
from FuzzyConnectedGPULib.solvers.cuda.contraction import contracted_tiles, contraction
from FuzzyVesselCoreLib.errors import Cancelled, DeviceMemoryError
from FuzzyVesselCoreLib.progress import Progress

SMALL = 20_000  # bytes of what does not grow with the volume: tables, counts


def noise(shape, smoothing):
    volume = np.random.default_rng(8).normal(0, 99, shape)
    return (gaussian_filter(volume, smoothing) if smoothing else volume).astype(np.int16)


def bytes_a_voxel(volume, mask=None):
    problem = state_problem(volume, [[1, 1, 1]], mask=mask)
    device = EmulatedDevice()
    found = contraction.solve(problem, Progress(), device)
    np.testing.assert_array_equal(found.levels, dial.solve(problem, Progress())[0])
    return (found.peak_bytes - SMALL) / volume.size


@pytest.mark.parametrize("smoothing", [0.0, 1.0])  # with 1.0 more nodes than guessed
def test_memory_is_used_again_where_all_voxels_come_at_once(smoothing):
    assert bytes_a_voxel(noise((32, 64, 64), smoothing)) < 7.1


def test_a_mask_needs_its_own_memory_only():
    volume = noise((32, 64, 64), 0.0)
    assert bytes_a_voxel(volume, volume < 200) < 8.1


def test_slabs_lie_where_numbers_of_nodes_come(monkeypatch):
    # Three slabs of a plane of tiles: less than 4 bytes for each of the nodes that there may be.
    volume = noise((8 * 36, 16, 32), 0.7)
    monkeypatch.setattr(contracted_tiles, "SLAB_BYTES", 1)
    assert bytes_a_voxel(volume) < 5.7


@pytest.fixture
def no_search_for_cycles():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("reason", ["cancelled", "too little memory"])
def test_a_run_that_fails_gives_its_memory_back_at_once(reason, monkeypatch, no_search_for_cycles):
    """Another solver runs next, or another program: Python may look for cycles much later."""
    monkeypatch.setattr(contracted_tiles, "SLAB_BYTES", 1)
    device, calls = EmulatedDevice(), []

    def full(tiles):  # when the first slab has come
        raise DeviceMemoryError("no more")

    def cancel(share):
        calls.append(share)
        return len(calls) < 3  # when two slabs have come

    if reason == "too little memory":
        monkeypatch.setattr(contracted_tiles.ContractedTiles, "begin", full)
    problem = state_problem(noise((40, 16, 32), 0.0), [[1, 1, 1]])
    with pytest.raises((Cancelled, DeviceMemoryError)) as failed:
        contraction.solve(problem, Progress(cancel), device)
    assert device.peak_bytes > problem.voxels.nbytes
    failed.value.__traceback__ = None
    del failed
    assert device.xp._pool.used == 0


@pytest.mark.gpu
@pytest.mark.parametrize("smoothing", [1.0, 0.0])
def test_the_emulated_pool_holds_what_the_cards_holds(smoothing):
    # Of free pieces of the same size CuPy takes any.
    volume = noise((32, 64, 64), smoothing)
    scene = connectedness(volume, [[1, 1, 1]], device="cuda")
    problem, device = state_problem(volume, [[1, 1, 1]]), EmulatedDevice()
    contraction.solve(problem, Progress(), device)
    assert abs(scene.peak_bytes / device.peak_bytes - 1) < 0.02


@pytest.mark.gpu
@pytest.mark.parametrize("smoothing", [1.0, 0.0])
def test_device_memory_stays_small(smoothing):
    volume = noise((128, 256, 256), smoothing)
    scene = connectedness(volume, [[1, 1, 1]], device="cuda")
    assert scene.peak_bytes < 7.2 * volume.size
