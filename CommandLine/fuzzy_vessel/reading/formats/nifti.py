"""NIfTI-1 and NIfTI-2 single files (.nii, .nii.gz); layout: nifti1.h and nifti2.h."""

import struct
from pathlib import Path

from FuzzyVesselCoreLib.files.inflate import first_bytes

from .header import Header

# Code of the type: its name, values per voxel, bytes a value.
TYPES = {
    2: ("uint8", 1, 1),
    4: ("int16", 1, 2),
    8: ("int32", 1, 4),
    16: ("float32", 1, 4),
    32: ("complex64", 1, 8),
    64: ("float64", 1, 8),
    128: ("uint8", 3, 1),
    256: ("int8", 1, 1),
    512: ("uint16", 1, 2),
    768: ("uint32", 1, 4),
    1024: ("int64", 1, 8),
    1280: ("uint64", 1, 8),
    1536: ("float128", 1, 16),
    1792: ("complex128", 1, 16),
    2048: ("complex256", 1, 32),
    2304: ("uint8", 4, 1),
}
# Version: bytes of the header; struct of the sizes and its place; place of the type; of the offset.
LAYOUTS = {348: ("8h", 40, 70, "f", 108), 540: ("8q", 16, 12, "q", 168)}
# Of both transforms: place and format of the code, of the numbers.
TRANSFORMS = {
    348: ((252, "h", 256, "6f"), (254, "h", 280, "12f")),
    540: ((344, "i", 352, "6d"), (348, "i", 400, "12d")),
}
MAX_LENGTH = 1e9  # mm
# The most bytes before the voxels: the header and its extensions.
MAX_HEADER = 1 << 26


def read(path: Path) -> Header:
    """Read the `Header` of a NIfTI file.

    Raises
    ------
    ValueError
        The header cannot be true; the message says what is wrong.
    """
    start = first_bytes(path, 544)
    order, layout = _layout(start)
    sizes_format, sizes_at, type_at, offset_format, offset_at = layout
    count, *sizes = struct.unpack_from(order + sizes_format, start, sizes_at)
    (type_code,) = struct.unpack_from(order + "h", start, type_at)
    (offset,) = struct.unpack_from(order + offset_format, start, offset_at)
    if not 1 <= count <= 7 or min(sizes[:count]) < 1:
        raise ValueError(f"its header declares the sizes {sizes}")
    if not 348 <= offset <= MAX_HEADER:
        raise ValueError(f"its header declares that the voxels start at byte {offset}")
    if type_code not in TYPES:
        raise ValueError(f"its header declares an unknown voxel type ({type_code})")
    _refuse_wild_transforms(start, order)
    sizes = sizes[:count] + [1] * (7 - count)
    name, values, value_bytes = TYPES[type_code]
    packed = path.name.lower().endswith(".gz")
    return Header(
        path=path,
        sizes=tuple(sizes[:3]),
        type=name,
        values=values * sizes[4] * sizes[5] * sizes[6],
        frames=sizes[3] if count >= 4 and sizes[3] > 1 else None,
        frames_first=False,
        value_bytes=value_bytes,
        data=path,
        offset=int(offset),
        compression="file" if packed else "none",
        text=first_bytes(path, int(offset)),
    )


def write_frame(header: Header, data: bytes, folder: Path) -> Path:
    """Write one frame of a 4D file as a 3D file; return its path."""
    text = bytearray(header.text)
    order, (sizes_format, sizes_at, *_) = _layout(text)
    struct.pack_into(order + sizes_format, text, sizes_at, 3, *header.sizes, 1, 1, 1, 1)
    path = folder / "frame.nii"
    path.write_bytes(bytes(text) + data)
    return path


def _refuse_wild_transforms(start, order):
    """ITK, which reads the file later, does not come to an end with numbers that are none."""
    (size,) = struct.unpack_from(order + "i", start)
    for code_at, code_format, at, numbers_format in TRANSFORMS[size]:
        (code,) = struct.unpack_from(order + code_format, start, code_at)
        numbers = struct.unpack_from(order + numbers_format, start, at)
        if code and not all(abs(number) <= MAX_LENGTH for number in numbers):  # also for NaN
            raise ValueError("its header declares a position or axes that are no lengths")


def _layout(start):
    """Byte order and layout, from the header's own length in its first four bytes."""
    for order in "<>":
        size = struct.unpack(order + "i", start[:4])[0] if len(start) >= 4 else 0
        if size in LAYOUTS and len(start) >= size:
            return order, LAYOUTS[size]
    raise ValueError("it does not start with a NIfTI header")
