"""Size, voxel type and place of the data, in one record for all file formats."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.files.inflate import CHUNK, MAX_RATIO, joined, unpacked


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
    data : Path
        The file that holds the voxels.
    offset : int or None
        Where the voxels start in it, after decompression for .nii.gz; None: not known.
    compression : str
        "none", "stream" (the data alone, gzip or zlib), "file" (the whole file, gzip), "text"
        (numbers as decimal text) or "hex".
    text : bytes
        The header as it stands in the file.
    """

    path: Path
    sizes: tuple[int, ...]
    type: str
    values: int
    frames: int | None
    frames_first: bool
    value_bytes: int
    data: Path
    offset: int | None
    compression: str
    text: bytes

    @property
    def frame_bytes(self) -> int:
        """Bytes of one frame, as the sizes declare them."""
        i, j, k = self.sizes
        return i * j * k * self.values * self.value_bytes

    @property
    def declared_bytes(self) -> int:
        """Bytes of all frames, as the sizes declare them."""
        return self.frame_bytes * (self.frames or 1)

    @property
    def readable(self) -> bool:
        """Whether the place and the packing of the data are understood here."""
        return self.offset is not None and self.compression in ("none", "stream", "file")

    @property
    def capacity(self) -> int:
        """The most bytes of voxels that a file of this length can hold."""
        length = self.data.stat().st_size
        if self.compression == "none":
            return max(0, length - (self.offset or 0))
        if self.compression == "hex":
            return length // 2
        if self.compression == "text":  # a digit and a blank for each number
            return (length + 1) // 2 * self.value_bytes
        return length * MAX_RATIO

    def missing_bytes(self) -> int:
        """Bytes by which the data are shorter than declared, at least; 0 if they are all there.

        What is not known exactly, for text and unknown places, is derived from the file's length.

        Raises
        ------
        ValueError
            The packed data are damaged, or hold far more than declared.
        """
        missing = max(0, self.declared_bytes - self.capacity)
        if missing or not self.readable or self.compression == "none":
            return missing
        # Unpacked to the end: only there does the checksum say whether the voxels are right.
        wanted = self._skipped + self.declared_bytes
        present = 0
        for piece in self._unpacked():
            present += len(piece)
            if present > wanted + CHUNK:
                raise ValueError("its packed data are longer than its header declares")
        return min(max(0, wanted - present), self.declared_bytes)

    def read_frame(self, frame: int = 0) -> bytes:
        """The bytes of one frame of the data."""
        if self.compression == "none":
            with self.data.open("rb") as file:
                file.seek(self.offset or 0)
                content = file.read(self.declared_bytes)
        else:
            content = joined(self._unpacked(), self._skipped + self.declared_bytes)
            content = content[self._skipped :]
        if not self.frames_first:
            return content[frame * self.frame_bytes : (frame + 1) * self.frame_bytes]
        step = self.values * self.value_bytes
        voxels = np.frombuffer(content, np.uint8).reshape(-1, self.frames or 1, step)
        return voxels[:, frame].tobytes()

    @property
    def _skipped(self) -> int:
        """Bytes before the voxels in what is unpacked."""
        return self.offset or 0 if self.compression == "file" else 0

    def _unpacked(self) -> Iterator[bytes]:
        return unpacked(self.data, 0 if self.compression == "file" else self.offset or 0)
