"""Labelmaps from files into the MRML scene; a scan is not taken for one."""

from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from . import formats, slicer_reader, stacks
from .images import checked_header, read_image
from .refusals import existing, refuse_colours, refuse_stack_option

# A file with more numbers than these is taken for a scan, unless one of them is asked for.
MAX_LABELS = 256
MAX_LISTED = 12


def read_labelmap(
    path: str | Path, label: int | None = None, choice: stacks.Choice | None = None
) -> tuple[Any, np.ndarray]:
    """Read a labelmap into the scene.

    Parameters
    ----------
    path : str or Path
    label : int, optional
        Must be there.
    choice : stacks.Choice, optional
        Of the part of a stack.

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

    path, choice = existing(path), choice or stacks.Choice()
    if stacks.is_stack(path):
        node = stacks.add_labelmap(stacks.read_stack(path, choice))
    else:
        refuse_stack_option(path, choice.for_stacks)
        if path.is_dir():
            raise InputError(f"{path}: a labelmap is one file ({', '.join(formats.READERS)}).")
        node = read_image(checked_header(path), None, slicer_reader.LABELMAP)
    if node.GetImageData().GetNumberOfScalarComponents() != 1:
        refuse_colours(path, node.GetImageData().GetNumberOfScalarComponents())
    values = np.unique(slicer.util.arrayFromVolume(node))
    _refuse_scan(path, values, label)
    labels = values[values != 0]
    if not labels.size:
        raise InputError(f"{path}: the labelmap is empty: every voxel is 0.")
    if label is not None and label not in labels:
        listed = ", ".join(f"{value:g}" for value in labels[:MAX_LISTED])
        more = f" and {labels.size - MAX_LISTED} more" if labels.size > MAX_LISTED else ""
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
    if label is None and (values[0] < 0 or values.size > MAX_LABELS):
        raise InputError(
            f"{path}: this looks like a scan, not a labelmap: it holds {values.size:,} different "
            f"numbers from {values[0]:g} to {values[-1]:g}; name one with --label N, or {way_out}"
        )
