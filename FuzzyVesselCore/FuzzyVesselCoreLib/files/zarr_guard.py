"""What a Zarr array says about itself, checked in plain Python before zarr opens it.

Zarr runs the codec that a file names, one of which unpickles objects; it follows links out of the
folder, and unpacks a chunk to any length.
"""

import json
import math
import os
import re
import stat
import struct
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from .inflate import CHUNK, unpacked

ZARR = (".zattrs", ".zgroup", ".zarray", "zarr.json")  # files that are no chunks
MAX_JSON = 1 << 24
MAX_DIMENSIONS = 8
V2_TYPE = re.compile(r"[<>|]([iuf])([1248])|\|b1")
V3_TYPE = re.compile(r"(u?int|float)(8|16|32|64)|bool")
DEFLATE = {"gzip", "zlib"}
CODECS = DEFLATE | {
    "blosc", "zstd", "lz4", "bz2", "lzma", "delta", "shuffle", "bitshuffle", "fixedscaleoffset",
    "bytes", "crc32c", "transpose", "sharding_indexed",
}  # fmt: skip


@dataclass(frozen=True)
class ArrayHeader:
    """Shape, chunks (or shards), bytes a value, and names of the codecs."""

    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    value_bytes: int
    codecs: tuple[str, ...]


def read_json(path: Path) -> Any:
    """The content of a small regular file of JSON.

    Raises
    ------
    ValueError
        It is none.
    """
    state = path.lstat()
    if not stat.S_ISREG(state.st_mode) or state.st_size > MAX_JSON:
        raise ValueError(f"its {path.name} is no small file")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise ValueError(f"its {path.name} is nested too deeply") from error


def attributes_of(folder: Path) -> dict[str, Any]:
    """The attributes of an array or a group; empty where there are none.

    Raises
    ------
    ValueError
        Their file is no JSON of an object.
    """
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


def array_header(folder: Path) -> ArrayHeader:
    """The header of an array; its chunks are not looked at.

    Raises
    ------
    ValueError
        It cannot be true, or names a codec that is not read; the message says what is wrong.
    """
    header = _v2(folder) if (folder / ".zarray").exists() else _v3(folder)
    if not 2 <= len(header.shape) <= MAX_DIMENSIONS or len(header.chunks) != len(header.shape):
        raise ValueError(f"its array has the shape {header.shape} in chunks of {header.chunks}")
    if min(header.shape) < 1 or min(header.chunks) < 1:
        raise ValueError(f"its array has the shape {header.shape} in chunks of {header.chunks}")
    unknown = [name for name in header.codecs if name not in CODECS]
    if unknown:
        raise ValueError(f"its voxels are packed by {unknown[0]!r}, which is not read")
    return header


def check_chunk(folder: Path, key: str, header: ArrayHeader) -> None:
    """Refuse one chunk's file; one that is not there is none.

    Raises
    ------
    ValueError
        It is no regular file in the folder, or unpacks to more than a chunk.
    """
    place = folder
    for part in key.split("/"):
        place = place / part
        if not os.path.lexists(place):
            return
        mode = place.lstat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise ValueError(f"its part {part!r} is no regular file")
    if place.is_file():
        _refuse_bomb(place, header.codecs, math.prod(header.chunks) * header.value_bytes)


def checked_array(folder: Path) -> tuple[ArrayHeader, tuple[str, ...]]:
    """The header of an array that zarr may open, its chunks looked at, and notes.

    Raises
    ------
    ValueError
        As `array_header`, and where a chunk leads out of the folder or is longer than it may be.
    """
    header, present = array_header(folder), 0
    chunk_bytes = math.prod(header.chunks) * header.value_bytes
    for file in _regular_files(folder):
        _refuse_bomb(file, header.codecs, chunk_bytes)
        present += 1
    wanted = math.prod(-(-size // chunk) for size, chunk in zip(header.shape, header.chunks))
    if present >= wanted:
        return header, ()
    return header, (f"{wanted - present:,} of {wanted:,} chunks are not there: they count as 0.",)


def _v2(folder):
    content = read_json(folder / ".zarray")
    kind = V2_TYPE.fullmatch(str(content["dtype"]))
    if kind is None:
        raise ValueError(f"its voxels are of the type {content['dtype']}")
    packing = [content.get("compressor"), *(content.get("filters") or [])]
    names = tuple(str(each["id"]) for each in packing if each)
    shape, chunks = _sizes(content["shape"]), _sizes(content["chunks"])
    return ArrayHeader(shape, chunks, int(kind[2] or 1), names)


def _v3(folder):
    content = read_json(folder / "zarr.json")
    kind = V3_TYPE.fullmatch(str(content.get("data_type")))
    if content.get("node_type") != "array" or kind is None:
        raise ValueError(f"its voxels are of the type {content.get('data_type')}")
    chunks = _sizes(content["chunk_grid"]["configuration"]["chunk_shape"])
    names = tuple(_codec_names(content["codecs"]))
    return ArrayHeader(_sizes(content["shape"]), chunks, int(kind[2] or 8) // 8, names)


def _codec_names(codecs):
    for codec in codecs:
        yield str(codec["name"]).removeprefix("numcodecs.")
        inside = codec.get("configuration") or {}
        for name in ("codecs", "index_codecs"):
            yield from _codec_names(inside.get(name, ()))


def _sizes(numbers):
    if not all(isinstance(number, int) for number in numbers):
        raise ValueError(f"its sizes are {numbers}")
    return tuple(numbers)


def _regular_files(folder):
    """All chunks; raises for what is no regular file: a link, a pipe, a device."""
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            mode = (Path(place) / name).lstat().st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise ValueError(f"its part {name!r} is no regular file")
        yield from (Path(place) / name for name in files if name not in ZARR)


def _refuse_bomb(file, codecs, chunk_bytes):
    """Refuse a chunk that would be unpacked to more than a chunk's voxels."""
    if "sharding_indexed" in codecs:
        return
    if DEFLATE & set(codecs):
        count = 0
        for part in unpacked(file):
            count += len(part)
            if count > chunk_bytes + CHUNK:
                break
    else:
        with file.open("rb") as content:
            start = content.read(20)
        count = _declared(start, codecs)
        if "blosc" in codecs and len(start) >= 16:
            (stored,) = struct.unpack_from("<I", start, 12)
            if stored > file.stat().st_size:
                raise ValueError(f"its chunk {file.name} was cut short")
    if count > chunk_bytes + CHUNK:
        raise ValueError(f"its chunk {file.name} is longer than its header declares")


def _declared(start, codecs):
    """Bytes that a chunk of Blosc or Zstandard declares; 0 where it does not."""
    if "blosc" in codecs and len(start) >= 16:
        return struct.unpack_from("<I", start, 4)[0]
    if "zstd" not in codecs or len(start) < 18:
        return 0
    flags = start[4]
    single = flags >> 5 & 1
    at = 5 + (not single) + (0, 1, 2, 4)[flags & 3]
    length = (single, 2, 4, 8)[flags >> 6]
    return int.from_bytes(start[at : at + length], "little")
