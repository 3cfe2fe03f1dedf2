"""What an image file says about itself, before ITK reads it.

ITK fills a NIfTI file that was cut short with zeros, and Slicer's reader turns some voxel types and
sequences into others without a word. So the header is read first, by plain Python.
"""

from . import metaimage, nifti, nrrd
from .header import Header

READERS = {
    ".nrrd": nrrd,
    ".nhdr": nrrd,
    ".mha": metaimage,
    ".mhd": metaimage,
    ".nii": nifti,
    ".nii.gz": nifti,
}

__all__ = ["READERS", "Header", "read_header", "suffix_of", "write_frame"]


def suffix_of(path):
    """The suffix by which `path` is read, one of `READERS`; None for others."""
    name = path.name.lower()
    return next((suffix for suffix in READERS if name.endswith(suffix)), None)


def read_header(path):
    """The `Header` of an image file with one of the suffixes in `READERS`.

    Raises
    ------
    ValueError
        If the file does not start with such a header; the message says what is wrong.
    """
    return READERS[suffix_of(path)].read(path)


def write_frame(header, frame, folder):
    """Write one frame of a 4D file as a 3D file of the same geometry; return its path."""
    data = header.read_frame(frame)
    return READERS[suffix_of(header.path)].write_frame(header, data, folder)
