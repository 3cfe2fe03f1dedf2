"""Locks on folders, folders of runs, and Zarr arrays that lie."""

import json
import os
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files import zarr_guard
from FuzzyVesselCoreLib.files.step_folder import FolderLock, StepFolder, others_in

# ---- locks


def test_one_run_at_a_time_in_a_folder(tmp_path):
    folder = tmp_path / "a" / "b"
    with FolderLock(folder):
        assert others_in(folder) == []
        with pytest.raises(InputError, match="in use by another run"), FolderLock(folder):
            pass
        (folder / "result").touch()
    with FolderLock(folder):
        assert [place.name for place in others_in(folder)] == ["result"]
    assert [place.name for place in folder.iterdir()] == ["result"]


def test_a_killed_run_holds_nothing(tmp_path):
    code = (
        "import os, sys, pathlib\n"
        "from FuzzyVesselCoreLib.files.step_folder import FolderLock\n"
        "lock = FolderLock(pathlib.Path(sys.argv[1])).__enter__()\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, text=True, **pipes) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(InputError, match="in use"), FolderLock(tmp_path):
            pass
        other.kill()
        other.wait()
    with FolderLock(tmp_path):
        pass


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"), FolderLock(tmp_path / "file" / "x"):
        pass


# ---- folders of runs

MANIFEST = {"source": "a", "block": [1, 2, 3]}


class Steps(StepFolder):
    KINDS = ("step",)


@pytest.mark.parametrize("left", [0, 5, -9])
def test_a_damaged_step_is_named(tmp_path, left):
    folder = Steps(tmp_path)
    folder.begin(MANIFEST)
    folder.put("step", 1, a=np.arange(1000))
    file = tmp_path / "step-1.npz"
    file.write_bytes(file.read_bytes()[:left])
    with pytest.raises(InputError, match=r"step-1\.npz cannot be read"):
        folder.get("step", 1)


# ---- Zarr

SHAPE, CHUNKS = (20, 16, 16), (8, 8, 8)
BOMB = np.zeros(20 << 20, np.uint8)


def _array(folder, packing):
    """An array that zarr writes, and the codec of its chunks."""
    zarr = pytest.importorskip("zarr")
    import numcodecs

    values = np.random.default_rng(0).integers(0, 9, SHAPE).astype(np.int16)
    codec = {
        "zlib": numcodecs.Zlib(), "gzip": numcodecs.GZip(), "blosc": numcodecs.Blosc(),
        "zstd": numcodecs.Zstd(), "lz4": numcodecs.LZ4(), "raw": None,
    }[packing.removesuffix(" shards")]  # fmt: skip
    options = {"shape": SHAPE, "chunks": CHUNKS, "dtype": values.dtype}
    if packing.endswith("shards"):
        packed = {"gzip": zarr.codecs.GzipCodec(), "zstd": zarr.codecs.ZstdCodec()}
        options |= {"shards": (16, 16, 16), "compressors": packed[packing.split()[0]]}
    else:
        options |= {"zarr_format": 2, "compressors": codec}
    zarr.create_array(str(folder), **options)[:] = values
    return codec


READ = ["raw", "zlib", "gzip", "blosc", "zstd", "lz4", "gzip shards", "zstd shards"]


@pytest.mark.parametrize("packing", READ)
def test_arrays_that_tell_the_truth_are_read(tmp_path, packing):
    _array(tmp_path / "a", packing)
    array, notes = zarr_guard.checked_array(tmp_path / "a")
    assert (array.shape, array.chunks, notes) == (SHAPE, CHUNKS, ())


@pytest.mark.parametrize("packing", READ[1:])
def test_chunks_that_unpack_to_more_are_refused(tmp_path, packing):
    codec = _array(tmp_path / "a", packing)
    bomb = bytes(codec.encode(BOMB))
    assert len(bomb) < 1 << 20
    files = [path for path in (tmp_path / "a").rglob("*") if path.is_file()]
    chunk = next(path for path in files if path.name not in zarr_guard.ZARR)
    if packing.endswith("shards"):
        index = struct.pack("<16Q", 0, len(bomb), *[zarr_guard.ABSENT] * 14)
        chunk.write_bytes(bomb + index + struct.pack("<I", zlib.crc32(index)))
    else:
        chunk.write_bytes(bomb)
    with pytest.raises(ValueError, match="longer than its header declares"):
        zarr_guard.checked_array(tmp_path / "a")
    array, key = zarr_guard.open_array(tmp_path / "a"), str(chunk.relative_to(tmp_path / "a"))
    with pytest.raises(ValueError, match="longer than its header declares"):
        zarr_guard.check_chunk(tmp_path / "a", key, array)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"filters": [{"id": "zlib"}]}, "packed twice"),
        ({"filters": [{"id": "pickle"}]}, "pickle"),
        ({"compressor": {"id": "bz2"}}, "'bz2', which is not read"),
        ({"chunks": [1 << 20, 1 << 20, 1 << 20]}, "in chunks of"),
        ({"chunks": [0, 8, 8]}, "in chunks of"),
        ({"chunks": [8, 8]}, "same length"),
        ({"shape": [2.5, 8, 8]}, "integers"),
        ({"dtype": "|O"}, "type"),
        ({"dtype": "<M8[s]"}, "of the type"),
    ],
)
def test_headers_that_cannot_be_true_are_refused(tmp_path, changes, reason):
    _array(tmp_path, "zlib")
    header = tmp_path / ".zarray"
    header.write_text(json.dumps({**json.loads(header.read_text()), **changes}))
    with pytest.raises((ValueError, TypeError), match=reason):
        zarr_guard.open_array(tmp_path)


def test_links_out_of_the_folder_are_refused(tmp_path):
    _array(tmp_path / "a", "raw")
    chunk = tmp_path / "a" / "0.0.0"
    chunk.unlink()
    assert "1 of 12 chunks are not there" in zarr_guard.checked_array(tmp_path / "a")[1][0]
    chunk.symlink_to(tmp_path)
    with pytest.raises(ValueError, match="is no regular file"):
        zarr_guard.checked_array(tmp_path / "a")
    with pytest.raises(ValueError, match="would lie outside"):
        zarr_guard.path_inside("../0")
