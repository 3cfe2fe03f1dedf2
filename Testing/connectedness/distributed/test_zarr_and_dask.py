"""The same with zarr's stores and Dask's arrays, where these are installed."""

import numpy as np
import pytest

from FuzzyConnectedGPULib.distributed import connectedness, steps
from FuzzyVesselCoreLib.errors import InputError
from support.block_scene import AFFINITY, SEEDS, TOP, on_the_whole

zarr = pytest.importorskip("zarr", minversion="3")


@pytest.mark.parametrize("target_type", ["uint16", "float32"])
def test_paths(source, whole, tmp_path, target_type):
    target = tmp_path / "target.zarr"
    connectedness(source, SEEDS, AFFINITY, target, block=8, target_type=target_type)
    found = zarr.open(str(target), mode="r")
    assert found.chunks == (8, 8, 8)
    values = found[:] / TOP if target_type == "uint16" else found[:]
    np.testing.assert_array_equal(values, whole)
    with pytest.raises(InputError, match=r"target\.zarr exists"):
        connectedness(source, SEEDS, AFFINITY, target, block=8)


def test_ome_ngff_with_channels_and_a_mask(volume, whole, tmp_path):
    group = zarr.create_group(str(tmp_path / "image.zarr"))
    group.create_array("s0", data=volume[np.newaxis, np.newaxis], chunks=(1, 1, 8, 8, 8))
    group.attrs["ome"] = {"version": "0.5", "multiscales": [{"datasets": [{"path": "s0"}]}]}
    mask = np.ones(volume.shape, np.uint8)
    mask[:, 9] = 0
    zarr.create_array(str(tmp_path / "mask.zarr"), data=mask, chunks=(5, 5, 5))
    values = np.empty(volume.shape, np.float32)
    connectedness(tmp_path / "image.zarr", SEEDS, AFFINITY, values, block=6)
    np.testing.assert_array_equal(values, whole)
    region = tmp_path / "mask.zarr"
    connectedness(tmp_path / "image.zarr", SEEDS, AFFINITY, values, mask=region, block=6)
    masked = on_the_whole(volume, mask=mask)
    np.testing.assert_array_equal(values, masked)


def test_a_chunk_that_is_damaged(source, tmp_path):
    (source / "c" / "1" / "0" / "2").write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"chunk c/1/0/2, the voxels \[7:8, 0:8, 18:20\]"):
        connectedness(source, SEEDS, AFFINITY, tmp_path / "target.zarr", block=8)


def failing_from(monkeypatch, phase, damage):
    """A step's first call does a damage to the store before it works."""
    step, calls = getattr(steps, phase), []

    def damaged(job, group):
        if not calls:
            damage()
        calls.append(group)
        return step(job, group)

    monkeypatch.setattr(steps, phase, damaged)


CHUNK = "c/1/0/2"


def lose(source):
    (source / CHUNK).unlink()


def damage(source):
    (source / CHUNK).write_bytes(b"damaged")


@pytest.mark.parametrize("phase", ["contract_block", "finish_block"])
@pytest.mark.parametrize("harm", [lose, damage])
def test_a_chunk_that_is_lost_or_damaged_during_the_run(
    monkeypatch, source, whole, tmp_path, phase, harm
):
    """Its name is told, what is finished is kept, and with a copy of the chunk the run goes on."""
    target, content = tmp_path / "target.zarr", (source / CHUNK).read_bytes()
    with monkeypatch.context() as patched:
        failing_from(patched, phase, lambda: harm(source))
        with pytest.raises(InputError, match=f"chunk {CHUNK}, the voxels"):
            connectedness(source, SEEDS, AFFINITY, target, block=8)
    assert not target.exists()
    (source / CHUNK).write_bytes(content)
    run = connectedness(source, SEEDS, AFFINITY, target, block=8)
    assert run.computed["contract" if phase == "contract_block" else "finish"] < run.blocks
    np.testing.assert_array_equal(zarr.open(str(target), mode="r")[:] / TOP, whole)


def test_a_store_that_changes_during_the_run(monkeypatch, volume, source, tmp_path):
    def change():
        zarr.open_array(str(source))[13, 13, 13] = volume[13, 13, 13] + 1

    failing_from(monkeypatch, "finish_block", change)
    with pytest.raises(InputError, match=r"changed during the run, in block \[8:16, 8:16, 8:16\]"):
        connectedness(source, SEEDS, AFFINITY, tmp_path / "target.zarr", block=8)


def test_a_mask_with_a_damaged_chunk(source, volume, tmp_path):
    mask = tmp_path / "mask.zarr"
    zarr.create_array(str(mask), data=np.ones(volume.shape, np.uint8), chunks=(8, 9, 10))
    (mask / "c/1/1/1").write_bytes(b"damaged")
    with pytest.raises(InputError, match="The mask cannot be read at its chunk c/1/1/1"):
        connectedness(source, SEEDS, AFFINITY, tmp_path / "t", mask=mask, block=8)


def test_a_target_that_another_program_makes_during_the_run(monkeypatch, source, whole, tmp_path):
    target = tmp_path / "target.zarr"
    failing_from(monkeypatch, "finish_block", target.mkdir)
    with pytest.raises(InputError, match=r"was made by another program.*target\.zarr\.unfinished"):
        connectedness(source, SEEDS, AFFINITY, target, block=8)
    result = tmp_path / "target.zarr.unfinished" / "target.zarr"
    np.testing.assert_array_equal(zarr.open(str(result), mode="r")[:] / TOP, whole)


def test_an_array_as_target(volume, whole, tmp_path):
    store = zarr.create_array(str(tmp_path / "t.zarr"), shape=volume.shape, chunks=(4, 4, 4),
                              dtype="uint16")  # fmt: skip
    with pytest.raises(InputError, match="do not consist of whole chunks"):
        connectedness(volume, SEEDS, AFFINITY, store, block=6)
    connectedness(volume, SEEDS, AFFINITY, store, block=8)
    np.testing.assert_array_equal(store[:] / TOP, whole)


def test_a_group_without_images(tmp_path):
    zarr.create_group(str(tmp_path / "group.zarr"))
    with pytest.raises(InputError, match="multiscales"):
        connectedness(tmp_path / "group.zarr", SEEDS, AFFINITY, tmp_path / "t.zarr")


def test_a_dask_array(volume, whole):
    array = pytest.importorskip("dask.array").from_array(volume, chunks=6)
    values = np.empty(volume.shape, np.float32)
    connectedness(array, SEEDS, AFFINITY, values, block=7)
    np.testing.assert_array_equal(values, whole)
