"""Zarr arrays that are damaged on purpose: refused by name before zarr runs what they ask for."""

import gzip
import json
import struct

import numpy as np
import pytest

from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPULib.distributed import connectedness
from FuzzyVesselCoreLib.errors import InputError

zarr = pytest.importorskip("zarr", reason="zarr is not installed")
AFFINITY, SEEDS = GaussianAffinity(100, 30, 15), [[3, 4, 5]]
SHAPE = (8, 9, 10)


def volume():
    return np.random.default_rng(1).normal(100, 25, SHAPE).astype(np.float32)


@pytest.fixture
def plain(tmp_path):
    """An array of Zarr 2, without packing, in an OME-Zarr image."""
    place = tmp_path / "image.zarr"
    group = zarr.open_group(str(place), mode="w", zarr_format=2)
    array = group.create_array("0", shape=SHAPE, chunks=(4, 5, 5), dtype="f4", compressors=None)
    array[:] = volume()
    group.attrs["multiscales"] = [{"version": "0.4", "datasets": [{"path": "0"}]}]
    return place


def changed(path, **values):
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def pickle_codec(place):
    changed(place / "0/.zarray", filters=[{"id": "pickle"}])


def object_type(place):
    changed(place / "0/.zarray", dtype="|O")


def negative(place):
    changed(place / "0/.zarray", shape=[8, -9, 10])


def huge_chunk(place):
    changed(place / "0/.zarray", chunks=[10**5] * 3)


def outside(place):
    changed(place / ".zattrs", multiscales=[{"datasets": [{"path": "../other.zarr"}]}])


def link(place):
    (place / "0/0.0.0").unlink()
    (place / "0/0.0.0").symlink_to("/dev/zero")


def deflate_bomb(place):
    changed(place / "0/.zarray", compressor={"id": "gzip", "level": 1})
    for chunk in (place / "0").glob("?.?.?"):
        chunk.write_bytes(gzip.compress(bytes(1 << 24)))


def zstd_bomb(place):
    changed(place / "0/.zarray", compressor={"id": "zstd", "level": 1})
    start = struct.pack("<IB", 0xFD2FB528, 0b11000000) + b"\x58" + struct.pack("<Q", 2**40)
    (place / "0/0.0.0").write_bytes(start + bytes(24))


def cut_chunk(place):
    chunk = place / "0/0.0.0"
    chunk.write_bytes(chunk.read_bytes()[:-9])


def deep_json(place):
    (place / ".zattrs").write_text("[" * 100_000)


def no_json(place):
    (place / "0/.zarray").write_text("{'shape'")


def names_of_a_list(place):
    (place / ".zattrs").write_text("[1, 2]")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (pickle_codec, "packed by 'pickle', which is not read"),
        (object_type, r"of the type \|O"),
        (negative, "has the shape"),
        (huge_chunk, r"in chunks of"),
        (outside, "would lie outside of it"),
        (link, "'0.0.0' is no regular file"),
        (deflate_bomb, "longer than its header declares"),
        (zstd_bomb, "longer than its header declares"),
        (cut_chunk, r"its chunk 0\.0\.0"),
        (deep_json, "nested too deeply"),
        (no_json, "cannot be opened"),
        (names_of_a_list, "no list of names and values"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_hostile_sources_are_refused_by_name(plain, tmp_path, damage, message):
    damage(plain)
    target = tmp_path / "target.npy"
    with pytest.raises(InputError, match=message) as error:
        connectedness(plain, SEEDS, AFFINITY, target, block=5)
    assert "The source" in str(error.value)


def test_what_is_not_damaged_is_read(plain, tmp_path):
    whole = np.empty(SHAPE, np.float32)
    connectedness(volume(), SEEDS, AFFINITY, whole, block=20)
    for name, place in (("image", plain), ("array", plain / "0")):
        connectedness(place, SEEDS, AFFINITY, tmp_path / f"{name}.npy", block=5)
        top = np.iinfo(np.uint16).max
        found = np.load(tmp_path / f"{name}.npy")
        np.testing.assert_allclose(found / top, whole, atol=1 / top)


def test_a_link_as_a_folder_of_chunks_is_refused(tmp_path):
    place = tmp_path / "array.zarr"
    zarr.create_array(str(place), data=volume(), chunks=(4, 5, 5))
    elsewhere = tmp_path / "elsewhere"
    (place / "c/0").rename(elsewhere)
    (place / "c/0").symlink_to(elsewhere)
    with pytest.raises(InputError, match="'0' is no regular file"):
        connectedness(place, SEEDS, AFFINITY, tmp_path / "t.npy", block=5)
