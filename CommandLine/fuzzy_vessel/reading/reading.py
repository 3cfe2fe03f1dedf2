"""Reads volumes, masks and seeds into the MRML scene; what cannot be read is refused by name."""

import json
import tempfile
from pathlib import Path

import numpy as np

from FuzzyConnectedGPULib.input_validation import VOXEL_TYPES
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras

from ..messages import one_line
from ..slicer_host.vtk_messages import vtk_messages
from . import dicom, formats, points

# Options of vtkSlicerVolumesLogic::AddArchetypeVolume.
LABELMAP = 1
SINGLE_FILE = 4
# Attribute of a volume whose slices Slicer has put into the opposite order.
K_REVERSED = "FuzzyVesselGPU.KReversed"
# A file with more numbers than these is taken for a scan, unless one of them is asked for.
MOST_LABELS = 256
MOST_LISTED = 12
# Voxels are between these lengths, mm: from far below a cell's to far above a patient's.
LEAST_STEP, LARGEST_STEP = 1e-6, 1e4


def read_volume(path, frame=None):
    """Read a volume into the scene.

    Parameters
    ----------
    path : str or Path
        .nrrd, .nhdr, .mha, .mhd, .nii or .nii.gz, or a folder with one DICOM series.
    frame : int, optional
        Which frame of a 4D file, counted from 0.

    Returns
    -------
    vtkMRMLScalarVolumeNode
        With the attribute `K_REVERSED` where the file's axes are left-handed: Slicer makes them
        right-handed, and slice K of the file is another one here, as it is in Slicer.

    Raises
    ------
    InputError
        The message names the file and what to do.
    """
    path = _existing(path)
    if path.is_dir():
        if frame is not None:
            raise InputError(f"{path}: --frame is for 4D files, not for a DICOM folder.")
        return _read_dicom(path)
    header = _checked_header(path)
    if header.type not in VOXEL_TYPES:
        raise InputError(
            f"{path}: the voxel type {header.type} is not supported; "
            f"convert the volume to one of {', '.join(VOXEL_TYPES)}."
        )
    node = _read_image(header, frame, 0)
    if node.GetImageData().GetNumberOfScalarComponents() != 1:
        _refuse_colours(path, node.GetImageData().GetNumberOfScalarComponents())
    return node


def read_mask(path):
    """Read a mask into the scene as a labelmap of 0 and 1; any voxel type will do.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    vtkMRMLLabelMapVolumeNode

    Raises
    ------
    InputError
        The message names the file and what to do.
    """
    import slicer

    path = _existing(path)
    if path.is_dir():
        raise InputError(f"{path}: a mask is one file ({', '.join(formats.READERS)}).")
    node = _read_image(_checked_header(path), None, LABELMAP)
    voxels = slicer.util.arrayFromVolume(node)
    slicer.util.updateVolumeFromArray(node, (voxels != 0).astype(np.uint8))
    return node


def read_labelmap(path, label=None):
    """Read a labelmap into the scene.

    Parameters
    ----------
    path : str or Path
    label : int, optional
        Must be there.

    Returns
    -------
    node : vtkMRMLLabelMapVolumeNode
        With all labels of the file.
    labels : ndarray
        The labels that are there, but 0.

    Raises
    ------
    InputError
        The file is no labelmap, is empty, or lacks the label; the message names the file.
    """
    import slicer

    path = _existing(path)
    if path.is_dir():
        raise InputError(f"{path}: a labelmap is one file ({', '.join(formats.READERS)}).")
    node = _read_image(_checked_header(path), None, LABELMAP)
    if node.GetImageData().GetNumberOfScalarComponents() != 1:
        _refuse_colours(path, node.GetImageData().GetNumberOfScalarComponents())
    values = np.unique(slicer.util.arrayFromVolume(node))
    _refuse_scan(path, values, label)
    labels = values[values != 0]
    if not labels.size:
        raise InputError(f"{path}: the labelmap is empty: every voxel is 0.")
    if label is not None and label not in labels:
        listed = ", ".join(f"{value:g}" for value in labels[:MOST_LISTED])
        more = f" and {labels.size - MOST_LISTED} more" if labels.size > MOST_LISTED else ""
        raise InputError(f"{path}: there is no label {label}; there are {listed}{more}.")
    return node, labels


def _refuse_scan(path, values, label):
    """Refuse what is no labelmap, by the different numbers in it."""
    way_out = "segment it first (fuzzy-vessel segment, or fuzzy-vessel run for both)."
    broken = values[~np.isfinite(values) | (values != np.rint(values))]
    if broken.size:
        raise InputError(
            f"{path}: this is no labelmap: it holds numbers that are not whole, such as "
            f"{broken[0]:g}; {way_out}"
        )
    if label is None and (values[0] < 0 or values.size > MOST_LABELS):
        raise InputError(
            f"{path}: this looks like a scan, not a labelmap: it holds {values.size:,} different "
            f"numbers from {values[0]:g} to {values[-1]:g}; name one with --label N, or {way_out}"
        )


def read_seeds(path):
    """Read a list of points (.mrk.json, as Slicer saves it) into the scene.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    vtkMRMLMarkupsFiducialNode

    Raises
    ------
    InputError
        If the file is missing, or is not a list of points.
    """
    path = _existing(path)
    markup = points.read(path)
    with tempfile.TemporaryDirectory(prefix="fuzzy-vessel-") as folder:
        checked = Path(folder) / "points.mrk.json"
        checked.write_text(json.dumps({"markups": [markup]}), encoding="utf-8")
        node = _load_points(checked, path)
        # The checked file is gone in a moment: the node must not point to it.
        node.SetAndObserveStorageNodeID(None)
    return node


def _load_points(checked, path):
    """Let Slicer's own reader load the checked points; `path` is what the user named."""
    import slicer

    with vtk_messages():
        node_id = slicer.modules.markups.logic().LoadMarkups(str(checked), _name(path))
    if not node_id:
        raise InputError(f"{path}: the list of points cannot be read.")
    return slicer.mrmlScene.GetNodeByID(node_id)


def _existing(path):
    path = Path(path)
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder.")
    return path


def _name(path):
    suffix = formats.suffix_of(path) or "".join(path.suffixes[-2:])
    return path.name[: -len(suffix)] or path.name if suffix else path.name


def _checked_header(path):
    """The header of an image file whose data are all there."""
    if formats.suffix_of(path) is None:
        raise InputError(
            f"{path}: files of this kind are not read; {', '.join(formats.READERS)} or a folder "
            "with a DICOM series are."
        )
    try:
        if path.stat().st_size == 0:
            raise InputError(f"{path}: the file is empty.")
        header = formats.read_header(path)
        missing = header.missing_bytes()
    except ValueError as error:
        if isinstance(error, InputError):
            raise
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
        _refuse_colours(path, header.values)
    return header


def _refuse_colours(path, count):
    raise InputError(
        f"{path}: each voxel holds {count} values (colours or vectors); one intensity is needed. "
        "Export the original scan, or one component of it."
    )


def _read_image(header, frame, options):
    path = header.path
    if header.frames is None:
        if frame not in (None, 0):
            raise InputError(f"{path}: the file holds one frame only; leave --frame {frame} out.")
        return _with_sizes(_load(path, path, options | SINGLE_FILE), header)
    count = header.frames
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
    with tempfile.TemporaryDirectory(prefix="fuzzy-vessel-") as folder:
        single = formats.write_frame(header, frame, Path(folder))
        node = _with_sizes(_load(single, path, options | SINGLE_FILE), header)
        # The file of the frame is gone in a moment: the node must not point to it.
        node.SetAndObserveStorageNodeID(None)
    return node


def _with_sizes(node, header):
    """The node, if Slicer's reader understood the header as it was understood here."""
    sizes = node.GetImageData().GetDimensions()
    if sizes != header.sizes:
        raise InputError(
            f"{header.path}: the header is ambiguous: it declares {_times(header.sizes)} voxels "
            f"and is read as {_times(sizes)}; save the volume again, with Slicer."
        )
    return node


def _times(sizes):
    return " x ".join(str(size) for size in sizes)


def _read_dicom(folder):
    import vtkmodules.vtkCommonCore as core

    files = dicom.sorted_slices(folder)
    names = core.vtkStringArray()
    for file in files:
        names.InsertNextValue(str(file))
    node = _load(files[0], folder, 0 if len(files) > 1 else SINGLE_FILE, names)
    slices = node.GetImageData().GetDimensions()[2]
    if len(files) > 1 and slices != len(files):
        raise InputError(
            f"{folder}: {slices} of {len(files)} slices could be read; convert the series to .nrrd."
        )
    if node.GetImageData().GetNumberOfScalarComponents() != 1:
        _refuse_colours(folder, node.GetImageData().GetNumberOfScalarComponents())
    return node


def _load(file, path, options, names=None):
    """Let Slicer's own reader load `file`; `path` is what the user named."""
    import slicer

    logic = slicer.modules.volumes.logic()
    arguments = (str(file), _name(path), options) + ((names,) if names else ())
    with vtk_messages():
        node = logic.AddArchetypeVolume(*arguments)
    if node is None or node.GetImageData() is None:
        raise InputError(f"{path}: the file cannot be read: it is damaged or no image.")
    _refuse_no_space(node, path)
    if names is None and _is_left_handed(file):
        node.SetAttribute(K_REVERSED, "true")
    return node


def _refuse_no_space(node, path):
    """Refuse a volume whose voxels have no place in space: steps of no length, or not numbers."""
    matrix = ijk_to_ras(node)
    steps = np.linalg.norm(matrix[:3, :3], axis=0)
    if not np.isfinite(matrix).all() or steps.min() < LEAST_STEP or steps.max() > LARGEST_STEP:
        raise InputError(
            f"{path}: the voxels' spacing or position in the header is unusable "
            f"({_times(f'{step:g}' for step in steps)} mm); set it right in Slicer's Volumes "
            "module."
        )
    if abs(np.linalg.det(matrix[:3, :3] / steps)) < LEAST_STEP:
        raise InputError(
            f"{path}: the axes in the header lie in one plane, so the voxels have no place in "
            "space; export the volume again."
        )


def _is_left_handed(file):
    """Whether the file's axes are left-handed, so that Slicer turned the third one round."""
    import slicer

    reader = slicer.vtkITKArchetypeImageSeriesScalarReader()
    reader.SetArchetype(str(file))
    reader.SetSingleFile(1)
    reader.SetDesiredCoordinateOrientationToNative()
    with vtk_messages():
        reader.UpdateInformation()
    matrix = reader.GetRasToIjkMatrix()
    return matrix is not None and matrix.Determinant() < 0
