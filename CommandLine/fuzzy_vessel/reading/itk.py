"""NRRD, MetaImage, NIfTI and DICOM series by SimpleITK; runs in the child of `process`.

NIfTI files that were cut short are filled with zeros by ITK, and packed MetaImage voxels that do
not unpack are left as they were in memory: both are checked here.
"""

import contextlib
import gzip
import math
import re
import zlib
from pathlib import Path

import numpy as np
import SimpleITK as sitk

from FuzzyVesselCoreLib.errors import InputError

from .process import Choice, Image, chosen, last_line, refuse_colours, refuse_too_large

CHUNK = 1 << 20
# Distances between slices may differ from their median by this share of it; sideways shifts from
# slice to slice that are a smaller share of the distance are no tilt.
UNEVEN, TILT = 0.1, 0.01
SERIES, ORIENTATION, POSITION = "0020|000e", "0020|0037", "0020|0032"
SIZE = "0028|0011", "0028|0010"
PIXEL = "0028|0100", "0028|0103", "0028|0002"  # bits, sign, number of values
NAMES = "0020|0011", "0008|103e"


def read_file(path: Path, choice: Choice, memory: float) -> Image:
    """One volume, or one frame of several."""
    reader = sitk.ImageFileReader()
    reader.SetFileName(str(path))
    reader.ReadImageInformation()
    header = {key: reader.GetMetaData(key) for key in reader.GetMetaDataKeys()}
    sizes, values = list(reader.GetSize()), reader.GetNumberOfComponents()
    value_bytes = sitk.Image([1, 1], reader.GetPixelID(), values).GetSizeOfPixelComponent()
    declared = int(np.prod([float(size) for size in sizes])) * values * value_bytes
    refuse_too_large(declared, memory)
    _refuse_cut_short(path, header, declared)
    lists = header.get("NRRD_kinds[pixel]") == "list"
    if any(size > 1 for size in sizes[4:]):
        raise InputError(f"it has {len(sizes)} dimensions")
    count = values if lists else sizes[3] if len(sizes) > 3 else 1
    frame = chosen(choice.frame, count, "frames (4D)", "--frame")
    if values > 1 and not lists:
        refuse_colours(values)
    if len(sizes) > 3:
        reader.SetExtractSize([*sizes[:3], *[0] * (len(sizes) - 3)])
        reader.SetExtractIndex([0, 0, 0, frame, *[0] * (len(sizes) - 4)])
    image = reader.Execute()
    return _placed(sitk.VectorIndexSelectionCast(image, frame) if lists else image)


def _refuse_cut_short(path, header, declared):
    """NIfTI voxels that are not there would be zeros, and packed ones of MetaImage anything."""
    there = wanted = 0.0
    if "vox_offset" in header:
        wanted, there = float(header["vox_offset"]) + declared, path.stat().st_size
        if path.name.lower().endswith(".gz"):
            there = 0
            with gzip.open(path) as packed, contextlib.suppress(EOFError):
                while piece := packed.read(CHUNK):
                    there += len(piece)
    elif path.suffix.lower() in (".mha", ".mhd"):
        with path.open("rb") as file:
            head = file.read(CHUNK)
            if not re.search(rb"(?mi)^CompressedData\s*=\s*T", head):
                return
            last = re.search(rb"(?m)^ElementDataFile\s*=\s*(.*?)\s*\n", head)
            if last is None:
                raise InputError("its header does not say where the voxels are")
            if last[1].upper() != b"LOCAL":
                file = (path.parent / last[1].decode("utf-8", "replace")).open("rb")
            else:
                file.seek(last.end())
            wanted = declared
            there = len(zlib.decompressobj().decompress(file.read(), declared))
    if there < wanted:
        raise InputError(
            f"the file is damaged or cut short: {wanted - there:,.0f} of {wanted:,.0f} bytes are "
            "missing; copy or export it again"
        )


def _placed(image):
    voxels = sitk.GetArrayFromImage(image)
    voxels = voxels.reshape((1,) * (3 - voxels.ndim) + voxels.shape)
    count = image.GetDimension()
    matrix = np.eye(4)
    matrix[:count, :count] = np.reshape(image.GetDirection(), (count, count)) * image.GetSpacing()
    matrix[:count, 3] = image.GetOrigin()
    matrix[:2] *= -1  # L, P, S to R, A, S
    return Image(voxels, matrix)


# DICOM


def read_series(folder: Path, _choice: Choice, memory: float) -> Image:
    """The one series in a folder, ordered along the slices' normal."""
    slices = list(filter(None, map(_slice, sorted(folder.iterdir()))))
    if not slices:
        raise InputError("there is no DICOM image in this folder")
    _refuse_several(slices)
    if len(slices) > 1:
        slices = _in_order(slices)
    refuse_too_large(8.0 * len(slices) * math.prod(slices[0]["size"]), memory)
    names = [str(entry["path"]) for entry in slices]
    image = sitk.ReadImage(names if len(names) > 1 else names[0], imageIO="GDCMImageIO")
    if image.GetNumberOfComponentsPerPixel() != 1:
        refuse_colours(image.GetNumberOfComponentsPerPixel())
    return _placed(image)


def _slice(path):
    """What the tags of a file say; None if it is no DICOM file."""
    if not path.is_file() or path.name.upper() == "DICOMDIR":
        return None
    with path.open("rb") as file:
        start = file.read(132)
    if start[128:] != b"DICM" and not (start[:2] == b"\x08\x00" and start[3:4] == b"\x00"):
        return None
    reader = sitk.ImageFileReader()
    reader.SetImageIO("GDCMImageIO")
    reader.SetFileName(str(path))
    try:
        reader.ReadImageInformation()
    except RuntimeError as error:
        raise InputError(
            f"{path.name}: the DICOM file is damaged or no image: {last_line(error)}; export the "
            "series again"
        ) from error
    keys = set(reader.GetMetaDataKeys())
    tags = {
        key: (reader.GetMetaData(key) if key in keys else "").strip(" \0")
        for key in (SERIES, *SIZE, *PIXEL, ORIENTATION, POSITION, *NAMES)
    }
    if tags[PIXEL[0]] not in ("8", "16", "32", "64"):
        raise InputError(
            f"{path.name}: its pixels have {tags[PIXEL[0]] or 'no'} bits, which is not read"
        )
    orientation = _numbers(tags[ORIENTATION], 6)
    kind = [tags[key] for key in (SERIES, *SIZE, *PIXEL)]
    return {
        "path": path,
        "key": (*kind, *(round(number, 3) + 0.0 for number in orientation)),
        "name": " ".join(filter(None, (tags[key] for key in NAMES))) or "without a name",
        "size": reader.GetSize(),
        "orientation": orientation,
        "position": _numbers(tags[POSITION], 3),
    }


def _numbers(text, count):
    try:
        numbers = [float(part) for part in text.split("\\")]
    except ValueError:
        return []
    return numbers if len(numbers) == count and np.isfinite(numbers).all() else []


def _refuse_several(slices):
    groups: dict = {}
    for entry in slices:
        groups.setdefault(entry["key"], []).append(entry)
    if len(groups) > 1:
        listed = "; ".join(
            f"{group[0]['name']} ({len(group)} images of {' x '.join(group[0]['key'][1:3])} "
            f"with {group[0]['key'][3]} bits, for example {group[0]['path'].name})"
            for group in groups.values()
        )
        raise InputError(
            f"the folder holds {len(groups)} series: {listed}. Put the images of one series into a "
            "folder of their own"
        )


def _in_order(slices):
    """The slices along their normal; refuses gaps, doubles and sideways shifts."""
    for entry in slices:
        if not entry["position"] or not entry["orientation"]:
            raise InputError(
                f"{entry['path'].name}: the position or the orientation of the slice is not in the "
                "file (DICOM tags 0020,0032 and 0020,0037), so the order of the slices is not "
                "known; convert the series to .nrrd with a program that knows it"
            )
    normal = np.cross(slices[0]["orientation"][:3], slices[0]["orientation"][3:])
    slices = sorted(slices, key=lambda entry: float(np.dot(entry["position"], normal)))
    steps = np.diff([entry["position"] for entry in slices], axis=0)
    distances = steps @ normal
    usual = float(np.median(distances))
    for index, distance in enumerate(distances):
        if abs(distance - usual) > UNEVEN * usual or distance <= 1e-6:
            first, second = slices[index], slices[index + 1]
            raise InputError(
                f"slices are missing, double or uneven: {distance:.2f} mm between "
                f"{first['path'].name} and {second['path'].name} (positions "
                f"{first['position'] @ normal:.2f} and {second['position'] @ normal:.2f} mm), "
                f"{usual:.2f} mm elsewhere. Add the missing files, or take one side of the gap, or "
                "one phase of the series"
            )
    if (np.linalg.norm(steps - np.outer(distances, normal), axis=1) > TILT * distances).any():
        raise InputError(
            "the slices are shifted sideways against each other (a tilted gantry); resample the "
            "series to straight slices first, for example with Slicer's DICOM module"
        )
    return slices
