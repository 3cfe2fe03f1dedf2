"""Labels over blocks with zarr's stores and Dask's workers, where these are installed."""

import os
import signal

import numpy as np
import pytest

from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPULib.distributed import LabelOptions, connectedness, labels, volume_curve
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


def test_chunks_of_zeros_that_were_not_stored(tmp_path):
    """Those of a scene that connectedness has written are no error; a chunk of another one is."""
    volume = np.zeros((16, 16, 16), np.int16)
    volume[:5, :5, :5] = 100
    affinity = GaussianAffinity(mean=100, sigma=10, gradient_sigma=10)
    for kind in ("uint16", "float32"):
        scene = tmp_path / f"{kind}.zarr"
        connectedness(volume, [[0, 0, 0]], affinity, scene, block=8, target_type=kind)
        assert not (scene / "c" / "1" / "1" / "1").exists()
        found, again = (np.zeros(volume.shape, np.uint8) for _ in range(2))
        target = tmp_path / f"{kind}-labels.zarr"
        assert labels(scene, 0.5, found, block=8).voxels == 125
        labels(scene, 0.5, target, block=8)
        labels(target, None, again, block=8)
        np.testing.assert_array_equal(found, volume > 0)
        np.testing.assert_array_equal(again, volume > 0)
        assert volume_curve(scene, options=LabelOptions(block=8))[1][-1] == 125
        with pytest.raises(InputError, match="lacks its chunk c/0/0/1"):
            labels(scene, 0.5, found, block=8, missing_chunks="error")


def test_a_labelmap_of_another_program_may_lack_chunks(tmp_path):
    mask = np.zeros((16, 16, 16), np.uint8)
    mask[9:12, 9:12, 9:12] = 1
    zarr.create_array(str(tmp_path / "mask.zarr"), data=mask, chunks=(8, 8, 8))
    assert not (tmp_path / "mask.zarr" / "c" / "0" / "0" / "0").exists()
    assert labels(tmp_path / "mask.zarr", None, np.empty_like(mask), block=8).voxels == 27
    found = np.empty_like(mask)
    with pytest.raises(InputError, match="lacks its chunk"):
        labels(tmp_path / "mask.zarr", None, found, block=8, missing_chunks="error")


def test_a_chunk_that_is_missing_or_damaged(source, tmp_path):
    chunk = source / "c" / "1" / "0" / "2"
    chunk.unlink()
    with pytest.raises(InputError, match=r"chunk c/1/0/2, the voxels \[7:14, 0:8, 18:20\]"):
        labels(source, THRESHOLD, tmp_path / "labels.zarr", block=8)
    assert not list(tmp_path.glob("labels*"))
    labels(source, THRESHOLD, tmp_path / "filled", block=8, missing_chunks="fill")
    chunk.write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"chunk c/1/0/2, the voxels \[7:8, 0:8, 18:20\]"):
        labels(source, THRESHOLD, tmp_path / "labels.zarr", block=8)


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
