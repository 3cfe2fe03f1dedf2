"""The tags of a DICOM slice.

They are read by ITK (GDCM), so every transfer syntax that it knows will do, after
`formats.dicom_elements` has checked the lengths of all elements.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from .formats.dicom_elements import check_elements, is_dicom
from .refusals import one_line

# SOP class, series UID, description and number, columns and rows, orientation and position, bits,
# sign and number of a pixel's values.
TAGS = (
    "0008|0016", "0020|000e", "0008|103e", "0020|0011",
    "0028|0011", "0028|0010", "0020|0037", "0020|0032", "0028|0100", "0028|0103", "0028|0002",
)  # fmt: skip


@dataclass(frozen=True)
class Slice:
    """One file of a series: where it lies in the patient (mm, LPS) and what it belongs to."""

    path: Path
    series: str
    description: str
    number: str
    size: tuple[str, str]
    pixels: tuple[str, str, str]
    orientation: tuple[float, ...]
    position: tuple[float, ...]

    @property
    def normal(self) -> np.ndarray:
        """The direction across the slice."""
        return np.cross(self.orientation[:3], self.orientation[3:])


def read_slice(path: Path) -> Slice | None:
    """Read what the tags of a file say.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Slice or None
        None if it is no DICOM image.

    Raises
    ------
    InputError
        The file is damaged or cannot be read.
    """
    if not path.is_file() or path.name.upper() == "DICOMDIR":
        return None
    try:
        if not is_dicom(path):
            return None
        check_elements(path)
    except ValueError as error:
        raise InputError(
            f"{path}: the DICOM file is damaged: {error}; export the series again."
        ) from error
    except OSError as error:
        raise InputError(f"{path}: the file cannot be read: {error.strerror or error}.") from error
    import slicer

    reader = slicer.vtkITKArchetypeImageSeriesScalarReader()
    reader.SetArchetype(str(path))
    reader.SetSingleFile(1)
    reader.UpdateInformation()
    tags = {key: _text(reader.GetTagValue(key)) for key in TAGS}
    if not tags["0008|0016"]:
        return None
    return Slice(
        path=path,
        series=tags["0020|000e"],
        description=tags["0008|103e"],
        number=tags["0020|0011"],
        size=(tags["0028|0011"], tags["0028|0010"]),
        pixels=(tags["0028|0100"], tags["0028|0103"], tags["0028|0002"]),
        orientation=_numbers(tags["0020|0037"], 6),
        position=_numbers(tags["0020|0032"], 3),
    )


def _text(value):
    """The text of a tag on one line; VTK hands out bytes where it is not UTF-8."""
    text = value.decode("latin-1") if isinstance(value, bytes) else value or ""
    return one_line(text.strip(" \0"))


def _numbers(text, count):
    try:
        numbers = tuple(float(part) for part in text.split("\\"))
    except ValueError:
        return ()
    return numbers if len(numbers) == count and np.isfinite(numbers).all() else ()
