"""Bad input: an error that names the block or the chunk, and nothing lost."""

import errno
import shutil
from collections import namedtuple

import numpy as np
import pytest

from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPULib.distributed import BlockOptions, connectedness
from FuzzyConnectedGPULib.distributed.run_folder import RunFolder
from FuzzyConnectedGPULib.distributed.stores import Store
from FuzzyVesselCoreLib.errors import InputError

AFFINITY, SEEDS = GaussianAffinity(100, 30, 15), [[3, 4, 5]]


@pytest.fixture
def volume():
    return np.random.default_rng(1).normal(100, 25, (8, 9, 10)).astype(np.float32)


def refused(message, volume, target=None, seeds=SEEDS, affinity=AFFINITY, **options):
    target = np.empty(np.shape(volume), np.float32) if target is None else target
    with pytest.raises(InputError, match=message):
        connectedness(volume, seeds, affinity, target, **{"block": 5, **options})


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("block", [5, 20])
def test_not_finite(volume, value, block):
    volume[6, 7, 8] = value
    refused(r"1 voxels that are not finite .* at I,J,K = 8,7,6", volume, block=block)


def test_beyond_float32(volume):
    volume = volume.astype(np.float64)
    volume[6, 7, 8] = 1e300
    refused(r"block \[5:8, 5:9, 5:10\].* at I,J,K = 8,7,6", volume)


def test_wrong_arrays_and_options(volume):
    refused("1 of 1 seeds lie outside", volume, seeds=[[3, 4, 10]])
    refused("GaussianAffinity", volume, affinity=None)
    refused("K x J x I", volume[0], target=volume)
    refused("K x J x I", np.stack([volume, volume]))
    refused("complex64", volume.astype(np.complex64))
    refused("The mask has shape", volume, mask=np.ones((2, 2, 2)))
    refused("The mask has voxels that are not", volume, mask=np.where(volume > 100, 1, np.nan))
    refused("The target has shape", volume, target=np.empty((8, 9, 11), np.float32))
    refused("The target's type is int16", volume, target=np.empty(volume.shape, np.int16))
    refused("The target is the source", volume, target=volume)
    refused("cut", volume, cut=2)
    refused("A task needs up to", volume, memory_limit=100)
    refused("source .*missing.npy does not exist", "missing.npy", target=volume)
    for options in (dict(block=0), dict(block=(1, 2)), dict(block=1.5), dict(target_type="int8")):
        with pytest.raises(InputError):
            BlockOptions(**options)


def test_no_seed_in_the_mask(volume):
    mask = np.ones(volume.shape, np.uint8)
    mask[3, 4, 5] = 0
    refused("outside the mask", volume, mask=mask)


def test_a_target_that_exists(volume, tmp_path):
    (tmp_path / "target.npy").write_text("mine")
    refused("target.npy exists", volume, target=tmp_path / "target.npy")
    assert (tmp_path / "target.npy").read_text() == "mine"


def test_a_folder_with_other_files(volume, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    refused("holds other files", volume, folder=tmp_path)


def test_too_little_space_is_reported_before(volume, tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**6, 10**6 - 1000, 1000))
    refused("GB are free", volume, target=tmp_path / "target.npy")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_up(volume, tmp_path, monkeypatch):
    put = RunFolder.put_levels
    monkeypatch.setattr(RunFolder, "put_levels", full)
    refused(r"levels of the faces in \[0:8.* cannot be written: .*free some space", volume,
            target=tmp_path / "target.npy")  # fmt: skip
    monkeypatch.setattr(RunFolder, "put_levels", put)
    run = connectedness(volume, SEEDS, AFFINITY, tmp_path / "target.npy", block=5)
    assert run.computed["contract"] == 0


def full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_source_that_changes_during_the_run(volume, monkeypatch):
    read, reads = Store.read, []

    def changing(store, box):
        reads.append(box)
        if len(reads) == 9:  # the second pass has begun
            volume[6, 7, 8] += 1
        return read(store, box)

    monkeypatch.setattr(Store, "read", changing)
    refused(r"changed during the run, in block \[5:8, 5:9, 5:10\]", volume)


def test_a_damaged_region_of_any_array(volume):
    class Damaged:
        shape, dtype = volume.shape, volume.dtype

        def __getitem__(self, index):
            if index[-1].start == 5:
                raise RuntimeError("checksum")
            return volume[index]

    refused(r"source cannot be read at the voxels \[0:5, 0:5, 5:10\].*checksum", Damaged(),
            target=np.empty(volume.shape, np.float32))  # fmt: skip
