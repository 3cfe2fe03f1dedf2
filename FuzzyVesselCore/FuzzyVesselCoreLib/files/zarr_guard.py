"""What a Zarr array says about itself, checked before a chunk of it is read.

Zarr runs the codecs that a file names, one of which unpickles objects; it follows links out of the
folder, and unpacks a chunk to any length. So only codecs whose results are bounded are allowed, one
compressor at most, and what a chunk, or each chunk in a shard, unpacks to is known before.
"""

import gzip
import io
import json
import math
import mmap
import os
import stat
import struct
import zlib
from pathlib import Path, PurePosixPath
from typing import Any

ZARR = (".zattrs", ".zgroup", ".zarray", "zarr.json")  # files that are no chunks
MAX_JSON = 1 << 24
MAX_CHUNK = (1 << 31) - 1  # bytes; compressors take no more
SLACK = 1 << 16  # bytes by which packed data may be longer than what is packed
COMPRESSORS = {"gzip", "zlib", "blosc", "zstd", "lz4"}
FILTERS = {"delta", "shuffle", "bitshuffle", "fixedscaleoffset", "bytes", "crc32c", "transpose"}
ABSENT = (1 << 64) - 1  # place of a chunk that is not in a shard


def read_json(path: Path) -> Any:
    """The content of a small regular file of JSON; `ValueError` if it is not."""
    state = path.lstat()
    if not stat.S_ISREG(state.st_mode) or state.st_size > MAX_JSON:
        raise ValueError(f"its {path.name} is no small file")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise ValueError(f"its {path.name} is nested too deeply") from error


def attributes_of(folder: Path) -> dict[str, Any]:
    """The attributes of an array or a group, empty where there are none; may raise `ValueError`."""
    found: Any = {}
    if (folder / ".zattrs").exists():
        found = read_json(folder / ".zattrs")
    elif (folder / "zarr.json").exists():
        found = read_json(folder / "zarr.json").get("attributes", {})
    if not isinstance(found, dict):
        raise ValueError("its attributes are no list of names and values")
    return found


def image_of(attributes: dict[str, Any]) -> dict[str, Any]:
    """What attributes say of an OME-NGFF image: in "ome" from version 0.5 on."""
    found = attributes.get("ome")
    return found if isinstance(found, dict) else attributes


def path_inside(name: Any) -> PurePosixPath:
    """A path within an image; `ValueError` where it leads out of it."""
    way = PurePosixPath(str(name))
    if way.is_absolute() or ".." in way.parts or "\\" in str(name):
        raise ValueError(f"its resolution {str(name)[:80]!r} would lie outside of it")
    return way


def open_array(folder: Path, mode: str = "r") -> Any:
    """The zarr array of a folder; its chunks are not looked at.

    An error of zarr's or a `ValueError` where the header cannot be true, or names codecs that are
    not read.
    """
    import zarr

    for name in ZARR:
        if os.path.lexists(folder / name):
            read_json(folder / name)
    array: Any = zarr.open_array(str(folder), mode=mode)
    size = math.prod(array.chunks) * array.dtype.itemsize
    if array.ndim < 2 or min(*array.shape, *array.chunks) < 1 or size > MAX_CHUNK:
        raise ValueError(f"its array has the shape {array.shape} in chunks of {array.chunks}")
    if array.dtype.kind not in "iufb":
        raise ValueError(f"its voxels are of the type {array.dtype}")
    names = _codecs(array)
    unknown = [name for name in names if name not in COMPRESSORS | FILTERS]
    if unknown:
        raise ValueError(f"its voxels are packed by {unknown[0]!r}, which is not read")
    if sum(name in COMPRESSORS for name in names) > 1:
        raise ValueError("its voxels are packed twice")
    if array.shards is not None:
        shard = array.metadata.codecs[0]
        index = [codec.to_dict()["name"] for codec in shard.index_codecs]
        if index != ["bytes", "crc32c"] or shard.index_location.value != "end":
            raise ValueError(f"the index of its shards is packed by {index}, which is not read")
    return array


def check_chunk(folder: Path, key: str, array: Any) -> None:
    """Refuse one chunk's file; one that is not there is none.

    `ValueError` where it is no regular file in the folder, or unpacks to more than a chunk.
    """
    place = folder
    for part in key.split("/"):
        place = place / part
        if not os.path.lexists(place):
            return
        _refuse_special(place)
    if place.is_file():
        _check_file(place, array)


def checked_array(folder: Path) -> tuple[Any, tuple[str, ...]]:
    """The zarr array of a folder, only to be read, its chunks looked at, and notes.

    Errors as of `open_array`, and `ValueError` where a chunk leads out of the folder or is longer
    than it may be.
    """
    array, present = open_array(folder), 0
    for place in folder.rglob("*"):
        _refuse_special(place)
        if place.is_file() and place.name not in ZARR:
            _check_file(place, array)
            present += 1
    stored = array.shards or array.chunks
    wanted = math.prod(-(-size // chunk) for size, chunk in zip(array.shape, stored))
    if present >= wanted:
        return array, ()
    return array, (f"{wanted - present:,} of {wanted:,} chunks are not there: they count as 0.",)


def _codecs(array: Any) -> list[str]:
    """Names of what each chunk is packed by."""
    codecs = [*array.filters, array.serializer, *array.compressors]
    names = [getattr(each, "codec_id", None) or each.to_dict()["name"] for each in codecs if each]
    return [str(name).removeprefix("numcodecs.") for name in names]


def _refuse_special(place: Path) -> None:
    """A link, a pipe, a device."""
    mode = place.lstat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ValueError(f"its part {place.name!r} is no regular file")


def _check_file(file: Path, array: Any) -> None:
    """Refuse a file that would be unpacked to more than a chunk's voxels."""
    limit = math.prod(array.chunks) * array.dtype.itemsize
    packed = next((name for name in _codecs(array) if name in COMPRESSORS), None)
    size = file.stat().st_size
    if size == 0:
        return
    with (
        file.open("rb") as content,
        mmap.mmap(content.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        try:
            for first, last in _chunks_in(data, size, array):
                if _unpacked_bytes(data, first, last, packed, limit) > limit:
                    raise ValueError("is longer than its header declares")
        except (ValueError, EOFError, OSError, zlib.error, struct.error) as error:
            raise ValueError(f"its chunk {file.name} {error}") from error


def _chunks_in(data: mmap.mmap, size: int, array: Any) -> list[tuple[int, int]]:
    """First and last byte of each chunk in a file."""
    if array.shards is None:
        return [(0, size)]
    count = math.prod(-(-a // b) for a, b in zip(array.shards, array.chunks))
    start = size - 16 * count - 4  # a checksum follows
    if start < 0:
        raise ValueError("was cut short")
    index = struct.iter_unpack("<QQ", data[start : start + 16 * count])
    return [(at, at + length) for at, length in index if (at, length) != (ABSENT, ABSENT)]


def _unpacked_bytes(data, first, last, packed, limit):
    """Bytes that a compressor makes of a part of a file; at most a little above the limit."""
    if last > len(data):
        raise ValueError("was cut short")
    if last - first > limit + limit // 256 + SLACK:
        return last - first
    start = data[first : min(first + 20, last)]
    if packed is None:
        return min(last - first, limit)  # zarr compares the lengths itself
    if packed == "gzip":
        return len(gzip.GzipFile(fileobj=io.BytesIO(data[first:last])).read(limit + 1))
    if packed == "zlib":
        return len(zlib.decompressobj().decompress(data[first:last], limit + 1))
    if packed == "lz4":
        return int(struct.unpack_from("<I", start)[0])
    if packed == "blosc":
        unpacked, _, stored = struct.unpack_from("<III", start, 4)
        if stored > last - first:
            raise ValueError("was cut short")
        return int(unpacked)
    if start[:4] != b"\x28\xb5\x2f\xfd":
        raise ValueError("is not packed by Zstandard")
    single, kind = start[4] >> 5 & 1, start[4] >> 6
    at, length = 5 + (not single) + (0, 1, 2, 4)[start[4] & 3], (single, 2, 4, 8)[kind]
    if not length:
        raise ValueError("does not say how long it is")
    return int.from_bytes(start[at : at + length], "little") + 256 * (kind == 1)
