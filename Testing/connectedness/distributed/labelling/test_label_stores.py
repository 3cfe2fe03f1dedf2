"""Labels over blocks with zarr's stores and Dask's workers, where these are installed."""

import os
import signal

import numpy as np
import pytest

from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPULib.distributed import LabelOptions, connectedness, labels, volume_curve
from FuzzyConnectedGPULib.distributed.labelling import label_steps
from FuzzyVesselCoreLib.errors import InputError
from support.whole_labels import whole_labels

zarr = pytest.importorskip("zarr", minversion="3")
THRESHOLD = 0.8


@pytest.fixture(scope="module")
def scene():
    return np.random.default_rng(1).random((16, 18, 20)).astype(np.float32)


@pytest.fixture(scope="module")
def whole(scene):
    return whole_labels(scene, THRESHOLD)


@pytest.fixture
def source(scene, tmp_path):
    path = tmp_path / "scene.zarr"
    zarr.create_array(str(path), data=scene, chunks=(7, 8, 9))
    return path


def test_a_zarr_array_as_target(source, whole, tmp_path):
    target = tmp_path / "labels.zarr"
    labels(source, THRESHOLD, target, block=8, numbered=True)
    found = zarr.open(str(target), mode="r")
    assert (found.chunks, found.dtype) == ((8, 8, 8), np.uint32)
    np.testing.assert_array_equal(found[:], whole)
    with pytest.raises(InputError, match=r"labels\.zarr exists"):
        labels(source, THRESHOLD, target, block=8)


def test_an_ome_zarr_label_image(source, whole, tmp_path):
    target = tmp_path / "labels.ome.zarr"
    labels(source, THRESHOLD, target, block=8, spacing=(2, 0.5, 0.25), origin=(1, 2, 3))
    group = zarr.open_group(str(target), mode="r")
    np.testing.assert_array_equal(group["0"][:], whole > 0)
    image = group.attrs["ome"]["multiscales"][0]
    assert image["name"] == "labels"
    assert [axis["name"] for axis in image["axes"]] == ["z", "y", "x"]
    assert image["datasets"] == [
        {
            "path": "0",
            "coordinateTransformations": [
                {"type": "scale", "scale": [2.0, 0.5, 0.25]},
                {"type": "translation", "translation": [1.0, 2.0, 3.0]},
            ],
        }
    ]
    again = np.empty(whole.shape, np.uint32)
    labels(target, None, again, block=8, numbered=True)
    np.testing.assert_array_equal(again, whole)


def test_chunks_that_were_not_written_and_chunks_that_were_lost(tmp_path):
    """Of what was written over blocks: the array knows its chunks, whoever copies it."""
    volume = np.zeros((16, 16, 16), np.int16)
    volume[:5, :5, :5] = 100
    affinity = GaussianAffinity(mean=100, sigma=10, gradient_sigma=10)
    for kind in ("uint16", "float32"):
        scene = tmp_path / f"{kind}.zarr"
        connectedness(volume, [[0, 0, 0]], affinity, scene, block=8, target_type=kind)
        assert not (scene / "c" / "1" / "1" / "1").exists()
        found, again = (np.zeros(volume.shape, np.uint8) for _ in range(2))
        target = tmp_path / f"{kind}.ome.zarr"
        run = labels(scene, 0.5, found, block=8)
        assert (run.voxels, run.missing_chunks) == (125, 0)
        labels(scene, 0.5, target, block=8)
        labels(target, None, again, block=8)
        np.testing.assert_array_equal(found, volume > 0)
        np.testing.assert_array_equal(again, volume > 0)
        assert volume_curve(scene, options=LabelOptions(block=8))[1][-1] == 125
        for place, threshold in ((scene, 0.5), (target / "0", None)):
            (place / "c" / "0" / "0" / "0").unlink()
            with pytest.raises(InputError, match=r"c/0/0/0, .* which was written: copy it again"):
                labels(place, threshold, found, block=8)
            assert labels(place, threshold, found, block=8, missing_chunks="fill").voxels == 0


def test_arrays_of_other_programs_may_lack_chunks(source, scene, tmp_path):
    mask = np.zeros((16, 16, 16), np.uint8)
    mask[9:12, 9:12, 9:12] = 1
    zarr.create_array(str(tmp_path / "mask.zarr"), data=mask, chunks=(8, 8, 8))
    run = labels(tmp_path / "mask.zarr", None, np.empty_like(mask), block=8)
    assert (run.voxels, run.missing_chunks) == (27, 7)
    with pytest.raises(InputError, match="lacks its chunk c/0/0/0"):
        labels(tmp_path / "mask.zarr", None, mask, block=8, missing_chunks="error")
    (source / "c" / "1" / "0" / "2").unlink()
    found, filled = np.empty(scene.shape, np.uint32), scene.copy()
    filled[7:14, :8, 18:] = 0
    run = labels(source, THRESHOLD, found, block=8, numbered=True)
    assert run.missing_chunks == 1
    np.testing.assert_array_equal(found, whole_labels(filled, THRESHOLD))


@pytest.mark.parametrize("kind", ["uint32", "int32", "uint64", "int8"])
def test_labelmaps_of_many_types(whole, kind):
    given = np.where(whole > 0, -1 if kind == "int32" else 1, 0).astype(kind)
    found = np.empty(whole.shape, np.uint32)
    labels(given, None, found, block=8, numbered=True)
    np.testing.assert_array_equal(found, whole)


def test_a_chunk_that_is_lost_or_damaged(source, whole, tmp_path, monkeypatch):
    """Lost during the run: told by name, not taken as the fill value."""
    chunk, step = source / "c" / "1" / "0" / "2", label_steps.label_block
    target = tmp_path / "labels.zarr"

    def losing(job, group):
        chunk.unlink(missing_ok=True)
        step(job, group)

    monkeypatch.setattr(label_steps, "label_block", losing)
    named = r"chunk c/1/0/2, the voxels \[7:14, 0:8, 18:20\] \(K, J, I\), which it had when the run"
    with pytest.raises(InputError, match=named):
        labels(source, THRESHOLD, target, block=8)
    monkeypatch.undo()
    chunk.write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"chunk c/1/0/2, the voxels \[7:8, 0:8, 18:20\]"):
        labels(source, THRESHOLD, tmp_path / "other.zarr", block=8)


def test_blocks_that_cut_the_chunks_of_a_target(scene, whole, tmp_path):
    store = zarr.create_array(str(tmp_path / "t.zarr"), shape=scene.shape, chunks=(4, 4, 4),
                              dtype="uint32")  # fmt: skip
    with pytest.raises(InputError, match="do not consist of whole chunks"):
        labels(scene, THRESHOLD, store, block=6, numbered=True)
    labels(scene, THRESHOLD, store, block=8, numbered=True)
    np.testing.assert_array_equal(store[:], whole)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes end in another way here")
def test_dask_workers_one_of_which_is_killed(scene, source, whole, tmp_path):
    distributed = pytest.importorskip("dask.distributed")
    options = dict(dashboard_address=":0", silence_logs=50, host="127.0.0.1")
    killed = []
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, **options) as cluster,
        distributed.Client(cluster) as client,
    ):

        def kill_once(share):
            if share > 0.2 and not killed:
                killed.extend(client.run(os.getpid).values())
                os.kill(killed[0], signal.SIGKILL)

        target = tmp_path / "labels.zarr"
        found = {"block": 8, "client": client, "numbered": True}
        run = labels(source, THRESHOLD, target, progress=kill_once, **found)
        with pytest.raises(InputError, match="Dask's workers cannot reach"):
            labels(scene, THRESHOLD, tmp_path / "t2", client=client)
    assert killed
    assert run.components == whole.max()
    np.testing.assert_array_equal(zarr.open(str(target), mode="r")[:], whole)
