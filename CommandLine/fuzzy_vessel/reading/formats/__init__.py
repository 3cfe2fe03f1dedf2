"""What an image file says about itself, checked in plain Python before Slicer reads the file.

ITK fills a NIfTI file that was cut short with zeros, Teem and MetaIO reserve what a header claims,
and Slicer's reader turns some voxel types and sequences into others without a word. So the header
is read first (`read_header`), and packed voxels are unpacked piece by piece to count them and to
check their checksum (`Header.missing_bytes`); nothing of them is kept.
"""

from pathlib import Path
from types import ModuleType

from . import metaimage, nifti, nrrd
from .header import Header

READERS: dict[str, ModuleType] = {
    ".nrrd": nrrd,
    ".nhdr": nrrd,
    ".mha": metaimage,
    ".mhd": metaimage,
    ".nii": nifti,
    ".nii.gz": nifti,
}

__all__ = ["READERS", "Header", "read_header", "suffix_of", "write_frame"]


def suffix_of(path: Path) -> str | None:
    """Return the suffix by which `path` is read, one of `READERS`; None for others."""
    name = path.name.lower()
    return next((suffix for suffix in READERS if name.endswith(suffix)), None)


def read_header(path: Path) -> Header:
    """Read the `Header` of an image file with one of the suffixes in `READERS`.

    Raises
    ------
    ValueError
        The file has another suffix or does not start with such a header; the message says what is
        wrong.
    """
    return _reader_of(path).read(path)


def write_frame(header: Header, frame: int, folder: Path) -> Path:
    """Write one frame of a 4D file as a 3D file of the same geometry; return its path."""
    return _reader_of(header.path).write_frame(header, header.read_frame(frame), folder)


def _reader_of(path):
    suffix = suffix_of(path)
    if suffix is None:
        raise ValueError(f"files of the kind of {path.name} are not read")
    return READERS[suffix]
