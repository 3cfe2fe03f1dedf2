"""Deflate streams (gzip and zlib) unpacked in chunks of bounded size."""

import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

CHUNK = 1 << 22
# Deflate packs at most so many bytes into one.
MAX_RATIO = 1032
GZIP = b"\x1f\x8b"


def unpacked(path: Path, start: int = 0) -> Iterator[bytes]:
    """Yield the bytes from `start` on, decompressed in chunks of at most `CHUNK`.

    Raises
    ------
    ValueError
        They are damaged; that they were cut short is no damage.
    """
    try:
        with path.open("rb") as file:
            file.seek(start)
            yield from _unpacked_members(file)
    except zlib.error as error:
        raise ValueError(f"its packed data are damaged ({error})") from error


def _unpacked_members(file: BinaryIO) -> Iterator[bytes]:
    unpack = None
    while chunk := file.read(CHUNK):
        while chunk:
            if unpack is None:
                # 47: gzip or zlib, whichever the data start with.
                unpack = zlib.decompressobj(47)
            elif unpack.eof:
                if not chunk.startswith(GZIP):  # something that was appended, such as padding
                    return
                unpack = zlib.decompressobj(47)
            # In chunks: a small file can unpack to gigabytes.
            yield unpack.decompress(chunk, CHUNK)
            chunk = unpack.unconsumed_tail or unpack.unused_data
    if unpack and not unpack.eof:
        yield unpack.flush()


def first_bytes(path: Path, count: int) -> bytes:
    """Return the first bytes of a file, decompressed where its name ends with .gz."""
    if not path.name.lower().endswith(".gz"):
        with path.open("rb") as file:
            return file.read(count)
    return joined(unpacked(path), count)


def joined(chunks: Iterable[bytes], count: int) -> bytes:
    """Return the first bytes of all chunks together."""
    start = bytearray()
    for chunk in chunks:
        start += chunk
        if len(start) >= count:
            break
    return bytes(start[:count])
