"""Small image files written byte by byte, without the libraries that are tested with them."""

import gzip
import struct
import zlib

import numpy as np

NIFTI_TYPES = {"uint8": (2, 8), "int16": (4, 16), "float32": (16, 32), "int64": (1024, 64)}
META_TYPES = {"uint8": "MET_UCHAR", "int16": "MET_SHORT", "float32": "MET_FLOAT"}
NRRD_TYPES = {"int16": "short", "uint8": "uchar", "float32": "float", "float64": "double"}


def write_nrrd(path, array, *, packed=False, keep=None, kinds=None, directions=None):
    """Write an array (slowest axis first) as NRRD with voxels of 1 x 1 x 2 mm; return the path."""
    directions = directions or ["(1,0,0)", "(0,1,0)", "(0,0,2)"][: array.ndim]
    kinds = kinds or ["domain"] * array.ndim
    name = array.dtype.name
    header = (
        f"NRRD0004\ntype: {NRRD_TYPES.get(name, name)}\ndimension: {array.ndim}\n"
        "space: left-posterior-superior\n"
        f"sizes: {' '.join(str(size) for size in array.shape[::-1])}\n"
        f"space directions: {' '.join(directions)}\nkinds: {' '.join(kinds)}\nendian: little\n"
        f"encoding: {'gzip' if packed else 'raw'}\nspace origin: (10,20,30)\n\n"
    )
    data = array.tobytes()[:keep]
    path.write_bytes(header.encode() + (gzip.compress(data) if packed else data))
    return path


def write_metaimage(path, array, *, packed=False, keep=None, channels=1, data_name=None):
    """Write an array as MetaImage; with `data_name` the voxels go into a file beside it."""
    sizes = array.shape[::-1][1 if channels > 1 else 0 :]
    count = len(sizes)
    data = array.tobytes()[:keep]
    data = zlib.compress(data) if packed else data
    identity = " ".join(f"{number:g}" for number in np.eye(count).ravel())
    header = (
        f"ObjectType = Image\nNDims = {count}\nBinaryData = True\n"
        f"BinaryDataByteOrderMSB = False\nCompressedData = {packed}\n"
        + (f"CompressedDataSize = {len(data)}\n" if packed else "")
        + f"TransformMatrix = {identity}\nOffset = {' '.join(['5'] * count)}\n"
        f"ElementSpacing = {' '.join(['1', '1', '2', '1'][:count])}\n"
        f"DimSize = {' '.join(str(size) for size in sizes)}\n"
        f"ElementNumberOfChannels = {channels}\n"
        f"ElementType = {META_TYPES[array.dtype.name]}\n"
        f"ElementDataFile = {data_name or 'LOCAL'}\n"
    )
    if data_name:
        path.write_text(header)
        (path.parent / data_name).write_bytes(data)
    else:
        path.write_bytes(header.encode() + data)
    return path


def write_nifti(path, array, *, keep=None, cut_file=None, colours=False):
    """Write an array as NIfTI-1 with the axes R, A, S and voxels of 1 x 1 x 2 mm."""
    header = bytearray(352)
    sizes = array.shape[::-1][1 if colours else 0 :]
    code, bits = (128, 24) if colours else NIFTI_TYPES[array.dtype.name]
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, len(sizes), *sizes, *[1] * (7 - len(sizes)))
    struct.pack_into("<hh", header, 70, code, bits)
    struct.pack_into("<8f", header, 76, 1, 1, 1, 2, 1, 0, 0, 0)
    struct.pack_into("<ff", header, 108, 352, 1)
    struct.pack_into("<hh", header, 252, 0, 1)
    struct.pack_into("<12f", header, 280, 1, 0, 0, 3, 0, 1, 0, 4, 0, 0, 2, 5)
    header[344:348] = b"n+1\0"
    content = bytes(header) + array.tobytes()[:keep]
    if path.name.endswith(".gz"):
        content = gzip.compress(content)
    path.write_bytes(content[:cut_file])
    return path
