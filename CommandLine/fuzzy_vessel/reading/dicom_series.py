"""The slices of a DICOM folder, in the order in which they lie in the patient."""

from collections import defaultdict
from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from ..slicer_host.vtk_messages import vtk_messages
from .dicom_tags import Slice, read_slice

# Distances between slices may differ from their median by this share of it.
UNEVEN = 0.1
# The sideways shift from slice to slice, as a share of their distance, that is still no tilt.
TILT = 0.01
WHOLE_BYTES = ("8", "16", "32", "64")


def sorted_slices(folder: Path) -> list[Path]:
    """Return the files of the one series in `folder`, along its slices' normal.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of Path

    Raises
    ------
    InputError
        If there is no DICOM image, if one is damaged, if there are several series, if slices are
        missing or there twice, or if they do not lie straight behind each other.
    """
    with vtk_messages():
        read = (read_slice(path) for path in sorted(folder.iterdir()))
        slices: list[Slice] = [entry for entry in read if entry is not None]
    if not slices:
        raise InputError(f"{folder}: there is no DICOM image in this folder.")
    _refuse_several(folder, slices)
    _refuse_other_pixels(slices)
    if len(slices) == 1:
        return [slices[0].path]
    lacking = next((s for s in slices if not s.position or not s.orientation), None)
    if lacking:
        raise InputError(
            f"{lacking.path}: the position or the orientation of the slice is not in the file "
            "(DICOM tags 0020,0032 and 0020,0037), so the order of the slices is not known; "
            "convert the series to .nrrd with a program that knows it."
        )
    normal = slices[0].normal
    slices.sort(key=lambda entry: float(np.dot(entry.position, normal)))
    _refuse_gaps(folder, slices)
    return [entry.path for entry in slices]


def _refuse_several(folder, slices):
    groups = defaultdict(list)
    for entry in slices:
        orientation = tuple(round(number, 3) + 0.0 for number in entry.orientation)
        groups[entry.series, entry.size, orientation].append(entry)
    if len(groups) == 1:
        return
    listed = "; ".join(
        f"{' '.join(filter(None, (group[0].number, group[0].description))) or 'without a name'}"
        f" ({len(group)} images of {' x '.join(group[0].size)}, for example {group[0].path.name})"
        for group in groups.values()
    )
    raise InputError(
        f"{folder}: the folder holds {len(groups)} series: {listed}. "
        "Put the images of one series into a folder of their own."
    )


def _refuse_other_pixels(slices):
    """GDCM writes beyond its memory where slices have pixels of other lengths than the first."""
    for entry in slices:
        if entry.pixels[0] not in WHOLE_BYTES:
            raise InputError(
                f"{entry.path}: its pixels have {entry.pixels[0] or 'no'} bits, which is not read; "
                f"{', '.join(WHOLE_BYTES)} are."
            )
        if entry.pixels != slices[0].pixels:
            raise InputError(
                f"{entry.path}: its pixels are of another kind (bits, sign or colours) than those "
                f"of {slices[0].path.name}; put the images of one kind into a folder of their own."
            )


def _refuse_gaps(folder, slices):
    positions = np.array([entry.position for entry in slices])
    normal = slices[0].normal
    steps = np.diff(positions, axis=0)
    distances = steps @ normal
    usual = float(np.median(distances))
    for index, distance in enumerate(distances):
        first, second = slices[index].path.name, slices[index + 1].path.name
        if distance < UNEVEN * usual or distance <= 1e-6:
            raise InputError(
                f"{folder}: two images lie at the same position "
                f"{positions[index] @ normal:.2f} mm: {first} and {second}. "
                "Keep one of them, or one phase of the series."
            )
        if abs(distance - usual) > UNEVEN * usual:
            raise InputError(
                f"{folder}: slices are missing or lie unevenly: {distance:.2f} mm between {first} "
                f"and {second} (positions {positions[index] @ normal:.2f} and "
                f"{positions[index + 1] @ normal:.2f} mm), {usual:.2f} mm elsewhere. "
                "Add the missing files, or take one side of the gap."
            )
    sideways = np.linalg.norm(steps - np.outer(distances, normal), axis=1)
    if (sideways > TILT * distances).any():
        raise InputError(
            f"{folder}: the slices are shifted sideways against each other (a tilted gantry); "
            "resample the series to straight slices first, for example with Slicer's DICOM module."
        )
