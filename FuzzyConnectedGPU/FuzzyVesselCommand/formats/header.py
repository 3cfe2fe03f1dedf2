"""Size, voxel type and place of the data, in one record for all file formats."""

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

CHUNK = 1 << 22


@dataclass(frozen=True)
class Header:
    """What the header of an image file declares.

    Attributes
    ----------
    path : Path
    sizes : tuple of int
        Voxels along I, J, K.
    type : str
        Type of one value, named as in numpy.
    values : int
        Values per voxel: 3 for RGB.
    frames : int or None
        Number of frames of a file with a fourth dimension, else None.
    frames_first : bool
        True where the frames of one voxel lie side by side.
    value_bytes : int
    data : Path or None
        The file that holds the voxels; None where they lie in several files.
    offset : int or None
        Where the voxels start in it, after decompression for .nii.gz; None: not known.
    compression : str
        "none", "stream" (the data alone, gzip or zlib), "file" (the whole file, gzip) or "other".
    text : bytes
        The header as it stands in the file.
    """

    path: Path
    sizes: tuple
    type: str
    values: int
    frames: int | None
    frames_first: bool
    value_bytes: int
    data: Path | None
    offset: int | None
    compression: str
    text: bytes

    @property
    def frame_bytes(self):
        """Bytes of one frame, as the sizes declare them."""
        i, j, k = self.sizes
        return i * j * k * self.values * self.value_bytes

    @property
    def declared_bytes(self):
        """Bytes of all frames, as the sizes declare them."""
        return self.frame_bytes * (self.frames or 1)

    @property
    def readable(self):
        """Whether the place and the packing of the data are understood here."""
        return self.data is not None and self.offset is not None and self.compression != "other"

    def missing_bytes(self):
        """Bytes by which the data are shorter than declared; 0 where that cannot be told."""
        if not self.readable:
            return 0
        if self.compression == "none":
            present = self.data.stat().st_size - self.offset
            return max(0, self.declared_bytes - present)
        start = self.offset if self.compression == "file" else 0
        if self._last_length_agrees(start + self.declared_bytes):
            return 0
        present = sum(len(chunk) for chunk in self._unpacked()) - start
        return max(0, self.declared_bytes - present)

    def read_frame(self, frame):
        """The bytes of one frame of the data."""
        start = self.offset if self.compression == "file" else 0
        if self.compression == "none":
            with self.data.open("rb") as file:
                file.seek(self.offset)
                content = file.read(self.declared_bytes)
        else:
            content = b"".join(self._unpacked())[start : start + self.declared_bytes]
        if not self.frames_first:
            return content[frame * self.frame_bytes : (frame + 1) * self.frame_bytes]
        step = self.values * self.value_bytes
        voxels = np.frombuffer(content, np.uint8).reshape(-1, self.frames, step)
        return voxels[:, frame].tobytes()

    def _last_length_agrees(self, length):
        # gzip ends with the length of what was packed; a file that was cut, with something else.
        with self.data.open("rb") as file:
            file.seek(0 if self.compression == "file" else self.offset)
            if file.read(2) != b"\x1f\x8b":
                return False
            file.seek(-4, 2)
            return int.from_bytes(file.read(4), "little") == length % (1 << 32)

    def _unpacked(self):
        return unpacked(self.data, 0 if self.compression == "file" else self.offset)


def unpacked(path, start=0):
    """The bytes from `start` on, decompressed in pieces, up to where they are damaged or end."""
    with path.open("rb") as file:
        file.seek(start)
        unpack = None
        while chunk := file.read(CHUNK):
            while chunk:
                # 47: gzip or zlib, whichever the data start with.
                unpack = unpack or zlib.decompressobj(47)
                try:
                    yield unpack.decompress(chunk)
                except zlib.error:
                    return
                chunk = unpack.unused_data
                if unpack.eof:
                    unpack = None


def first_bytes(path, count):
    """The first bytes of a file, decompressed where its name ends with .gz."""
    if not path.name.lower().endswith(".gz"):
        with path.open("rb") as file:
            return file.read(count)
    start = b""
    for piece in unpacked(path):
        start += piece
        if len(start) >= count:
            break
    return start[:count]
