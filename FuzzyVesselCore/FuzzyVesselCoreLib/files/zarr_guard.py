"""What a Zarr array says about itself, checked before a chunk of it is read.

Zarr runs the codecs that a file names, one of which unpickles objects, and follows links out of the
folder: only known codecs and regular files are read.
"""

import json
import math
import os
import stat
from pathlib import Path, PurePosixPath
from typing import Any

ZARR = (".zattrs", ".zgroup", ".zarray", "zarr.json")  # files that are no chunks
MAX_JSON = 1 << 24
MAX_CHUNK = (1 << 31) - 1  # bytes; compressors take no more
CODECS = {
    "gzip", "zlib", "blosc", "zstd", "lz4", "delta", "shuffle", "bitshuffle", "fixedscaleoffset",
    "bytes", "crc32c", "transpose",
}  # fmt: skip


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
    unknown = [name for name in _codecs(array) if name not in CODECS]
    if unknown:
        raise ValueError(f"its voxels are packed by {unknown[0]!r}, which is not read")
    return array


def check_chunk(folder: Path, key: str, array: Any) -> None:
    """Refuse a chunk's file that is no regular one in the folder, or cut short: `ValueError`."""
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

    Errors as of `open_array` and `check_chunk`.
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
    """Names of what each chunk, or each shard with its index, is packed by."""
    codecs = [*array.filters, array.serializer, *array.compressors]
    if array.shards is not None:
        codecs += array.metadata.codecs[0].index_codecs
    names = [getattr(each, "codec_id", None) or each.to_dict()["name"] for each in codecs if each]
    return [str(name).removeprefix("numcodecs.") for name in names]


def _refuse_special(place: Path) -> None:
    """A link, a pipe, a device."""
    mode = place.lstat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ValueError(f"its part {place.name!r} is no regular file")


def _check_file(file: Path, array: Any) -> None:
    """Refuse a chunk of blosc's that was cut short: blosc would read on in the memory behind it."""
    if array.shards is None and "blosc" in _codecs(array):
        with file.open("rb") as content:
            head = content.read(16)
        if len(head) < 16 or int.from_bytes(head[12:], "little") > file.stat().st_size:
            raise ValueError(f"its chunk {file.name} was cut short")
