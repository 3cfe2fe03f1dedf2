"""An image file into the MRML scene: guard, choice of a frame, Slicer's reader."""

import tempfile
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError

from . import formats, slicer_reader
from .refusals import one_line, refuse_colours, times

ARCHIVES = ".zip", ".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".xz"


def checked_header(path: Path) -> formats.Header:
    """Read the header of an image file whose data are all there.

    Raises
    ------
    InputError
        The file is of another kind, cannot be read, is damaged, or holds colours.
    """
    if formats.suffix_of(path) is None:
        if path.suffix.lower() in ARCHIVES:
            raise InputError(f"{path}: this is an archive: unpack it, and name what was in it.")
        raise InputError(
            f"{path}: files of this kind are not read; {', '.join(formats.READERS)}, TIFF, a "
            "folder with a DICOM series or an OME-Zarr are."
        )
    try:
        if path.stat().st_size == 0:
            raise InputError(f"{path}: the file is empty.")
        header = formats.read_header(path)
        missing = header.missing_bytes()
    except InputError:
        raise
    except ValueError as error:
        reason = one_line(error)
        raise InputError(f"{path}: this is not an image that can be read: {reason}.") from error
    except OSError as error:
        raise InputError(f"{path}: the file cannot be read: {error.strerror or error}.") from error
    if missing:
        raise InputError(
            f"{path}: the file is damaged or cut short: {missing:,} of {header.declared_bytes:,} "
            "bytes of voxels are missing; copy or export it again."
        )
    if header.values != 1:
        refuse_colours(path, header.values)
    return header


def read_image(header: formats.Header, frame: int | None, options: int = 0) -> Any:
    """Read a file, or one frame of it, into the scene.

    Parameters
    ----------
    header : Header
        Checked.
    frame : int, optional
        Of a 4D file.
    options : int
        Of `slicer_reader.load`.

    Returns
    -------
    vtkMRMLVolumeNode

    Raises
    ------
    InputError
        There is no such frame, or one must be named; the message names the file.
    """
    path, options = header.path, options | slicer_reader.SINGLE_FILE
    if header.frames is None:
        if frame not in (None, 0):
            raise InputError(f"{path}: the file holds one frame only; leave --frame {frame} out.")
        return _with_sizes(slicer_reader.load(path, path, options), header)
    frame = _checked_frame(header, frame)
    with tempfile.TemporaryDirectory(prefix="fuzzy-vessel-") as folder:
        single = formats.write_frame(header, frame, Path(folder))
        node = _with_sizes(slicer_reader.load(single, path, options), header)
        # The file of the frame is gone in a moment: the node must not point to it.
        node.SetAndObserveStorageNodeID(None)
    return node


def _checked_frame(header, frame):
    path, count = header.path, header.frames
    if frame is None and count > 1:
        raise InputError(
            f"{path}: the file holds {count} frames (4D); choose one with --frame N, "
            f"N = 0 to {count - 1}."
        )
    frame = frame or 0
    if not 0 <= frame < count:
        raise InputError(f"{path}: there is no frame {frame}; N = 0 to {count - 1}.")
    if not header.readable:
        raise InputError(
            f"{path}: the file holds {count} frames in a packing from which one cannot be taken; "
            "save the frame as a volume of its own."
        )
    return frame


def _with_sizes(node, header):
    """The node, if Slicer's reader understood the header as it was understood here."""
    sizes = node.GetImageData().GetDimensions()
    if sizes != header.sizes:
        raise InputError(
            f"{header.path}: the header is ambiguous: it declares {times(header.sizes)} voxels "
            f"and is read as {times(sizes)}; save the volume again, with Slicer."
        )
    return node
