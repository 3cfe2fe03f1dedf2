"""A chunk without a file is the fill value, unless something says that it is damage."""

import json

import numpy as np
import pytest

from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPULib.distributed import connectedness
from FuzzyConnectedGPULib.distributed.stores import Store, record_chunks
from FuzzyConnectedGPULib.distributed.stores.chunks import ChunkGrid, packed, unpacked
from FuzzyVesselCoreLib.errors import InputError

zarr = pytest.importorskip("zarr", minversion="3")
AFFINITY, SEEDS = GaussianAffinity(100, 30, 15), [[3, 4, 5]]
MISSING = "c/1/0/2"


@pytest.fixture
def volume():
    """Of which one chunk is air, which zarr does not store."""
    made = np.random.default_rng(1).normal(100, 25, (16, 18, 20)).astype(np.int16)
    made[7:14, :8, 18:] = 0
    return made


@pytest.fixture
def source(volume, tmp_path):
    zarr.create_array(str(tmp_path / "source.zarr"), data=volume, chunks=(7, 8, 9))
    assert not (tmp_path / "source.zarr" / MISSING).exists()
    return tmp_path / "source.zarr"


def computed(place, seeds=SEEDS, **options):
    values = np.empty((16, 18, 20), np.float32)
    return values, connectedness(place, seeds, AFFINITY, values, block=8, device="cpu", **options)


def test_a_volume_with_air_needs_no_option(volume, source):
    whole, of_all = computed(volume)
    values, run = computed(source)
    np.testing.assert_array_equal(values, whole)
    assert (run.missing_chunks, of_all.missing_chunks) == (1, 0)
    named = r"chunk c/1/0/2, the voxels \[7:14, 0:8, 18:20\] \(K, J, I\), copy it again"
    with pytest.raises(InputError, match=named):
        computed(source, missing_chunks="error")


def test_a_seed_in_a_chunk_without_a_file(source):
    """What was lost where it matters most: nobody places a seed where all is the same."""
    with pytest.raises(InputError, match=r"I,J,K = 19,2,9 lies in the chunk c/1/0/2, .* are 0: p"):
        computed(source, [[3, 4, 5], [9, 2, 19]])
    computed(source, [[3, 4, 5], [9, 2, 19]], missing_chunks="fill")


def test_an_array_that_says_which_chunks_it_has(source):
    record_chunks(source)
    assert computed(source)[1].missing_chunks == 0
    (source / "c/2/2/2").unlink()
    with pytest.raises(InputError, match=r"lacks its chunk c/2/2/2, .* which was written"):
        computed(source)
    mask = np.ones((16, 18, 20), np.uint8)
    with pytest.raises(InputError, match="The mask lacks its chunk c/2/2/2"):
        connectedness(mask, SEEDS, AFFINITY, mask.astype(np.float32), mask=source)


@pytest.mark.parametrize("value", [None, "NaN"])
def test_voxels_that_a_header_leaves_undefined(tmp_path, value):
    place = tmp_path / "old.zarr"
    kind = "i2" if value is None else "f4"
    array = zarr.create_array(
        str(place), shape=(4, 4, 8), chunks=(4, 4, 4), dtype=kind, zarr_format=2
    )
    array[:, :, :4] = 7
    header = json.loads((place / ".zarray").read_text())
    (place / ".zarray").write_text(json.dumps({**header, "fill_value": value}))
    with pytest.raises(InputError, match=r"chunk 0\.0\.1, .* does not say what they are"):
        Store.of(place, "source").refuse_missing()


@pytest.mark.parametrize("version", [2, 3])
def test_a_chunk_that_another_resolution_shows(tmp_path, version):
    """Of an image of another program that was copied in part; its air is no damage."""
    place = tmp_path / "image.zarr"
    volume = np.random.default_rng(1).normal(100, 9, (32, 32, 48)).astype(np.int16)
    volume[16:, :16, 32:] = 0
    group = zarr.create_group(str(place), zarr_format=version)
    for name, step, lead in (("0", 1, ()), ("1", 2, (1,)), ("2", 8, ())):
        group.create_array(
            name, data=volume[::step, ::step, ::step].reshape(*lead, *(32 // step,) * 2, -1),
            chunks=(*lead, 16, 16, 16),
        )  # fmt: skip
    images = [{"datasets": [{"path": name} for name in "012"]}]
    group.attrs.update(
        {"multiscales": images} if version == 2 else {"ome": {"multiscales": images}}
    )
    for given in (place, place / "0"):
        assert Store.of(given, "source").refuse_missing() == 1
    lost = place / "0" / ("0.1.1" if version == 2 else "c/0/1/1")
    lost.unlink()
    for given in (place, place / "0"):
        with pytest.raises(
            InputError, match=r"the voxels \[0:16, 16:32, 16:32\] .* resolution '1'"
        ):
            Store.of(given, "source").refuse_missing()
        assert Store.of(given, "source", "fill").refuse_missing() == 0
    assert Store.of(place / "1", "source").refuse_missing() == 0
    damaged = next(path for path in (place / "1").rglob("*0*") if path.is_file())
    damaged.write_bytes(b"damaged")  # it is not read for the run
    assert Store.of(place, "source").refuse_missing() == 2


def test_axes_before_the_volume(tmp_path, volume):
    array = zarr.create_array(
        str(tmp_path / "a.zarr"), shape=(1, 1, *volume.shape), chunks=(1, 1, 7, 8, 9), dtype="i2"
    )
    array[0, 0] = volume
    assert Store.of(tmp_path / "a.zarr", "source").refuse_missing() == 1
    record_chunks(tmp_path / "a.zarr")
    (tmp_path / "a.zarr" / "c/0/0/0/0/0").unlink()
    with pytest.raises(InputError, match="lacks its chunk c/0/0/0/0/0"):
        Store.of(tmp_path / "a.zarr", "source").refuse_missing()


def test_a_record_that_is_none(source):
    """An attribute of somebody else is no record."""
    shape = ChunkGrid.of(zarr.open_array(str(source))).shape
    good = packed(np.ones(shape, bool))
    assert unpacked(good, shape).all()
    for bad in (None, [], "x", {"grid": list(shape)}, {**good, "bits": "?"}, {**good, "bits": ""},
                {**good, "grid": [1, 2, 3]}, {**good, "bits": "AAAA"}):  # fmt: skip
        assert unpacked(bad, shape) is None
        zarr.open_array(str(source)).attrs["stored_chunks"] = bad
        assert Store.of(source, "source").refuse_missing() == 1


@pytest.mark.parametrize("said", ["x", None, 3, {"multiscales": 5}, {"multiscales": [3]}])
def test_attributes_that_are_none_of_an_image(source, said):
    """They are other people's, of an array or of the group that it lies in."""
    zarr.open_array(str(source)).attrs["ome"] = said
    (source.parent / ".zattrs").write_text(json.dumps({"ome": said}))
    store = Store.of(source, "source")
    assert store.refuse_missing() == 1
    assert not store.is_label_image


def test_a_header_that_claims_more_chunks_than_there_can_be(tmp_path):
    place = tmp_path / "a.zarr"
    zarr.create_array(str(place), shape=(10**6,) * 3, chunks=(1, 1, 1), dtype="u2")
    with pytest.raises(InputError, match=r"1,000,000,000,000,000,000 chunks of .1, 1, 1. voxels"):
        Store.of(place, "source").refuse_missing()


@pytest.mark.parametrize("separator", [".", "/"])
def test_listed_chunks_are_those_that_have_a_file(tmp_path, separator):
    array = zarr.create_array(
        str(tmp_path / "a.zarr"), shape=(6, 6, 6), chunks=(2, 2, 3), dtype="u1", zarr_format=2,
        chunk_key_encoding={"name": "v2", "separator": separator},
    )  # fmt: skip
    array[:] = np.kron(np.random.default_rng(3).integers(0, 2, (3, 3, 2)), np.ones((2, 2, 3)))
    grid = ChunkGrid.of(array)
    asked = [grid.has_file(index) for index in np.ndindex(3, 3, 2)]
    assert 0 < sum(asked) < 18
    assert grid.stored().ravel().tolist() == asked
