"""Makes hostile files: each case is a folder with files, and the reader that has to bear them."""

import gzip
import io
import json
import os
import struct
import tarfile
import zipfile
import zlib
from dataclasses import dataclass

import numpy as np

from support.image_files import write_metaimage, write_nifti, write_nrrd

from . import dicom_files
from .mutations import DEEP, pick, spoil_bytes, spoil_fields, spoil_json, spoil_lines

NIFTI_1 = (
    *[("h", 40 + 2 * n) for n in range(8)], ("h", 68), ("h", 70), ("h", 72), ("i", 0),
    *[("f", 76 + 4 * n) for n in range(8)], ("f", 108), ("f", 112), ("f", 116), ("h", 252),
    ("h", 254), *[("f", 256 + 4 * n) for n in range(18)], ("i", 348), ("i", 344), ("b", 123),
)  # fmt: skip
MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Case:
    """What to read, and how.

    Attributes
    ----------
    kind : str
        "volume", "labelmap", "mask", "seeds", "scene" or "program" (the whole command line).
    path : str
    frame : int or None
    command : str
        Of the command line, for "program": "segment" or "skeleton".
    """

    kind: str
    path: str
    frame: int | None = None
    command: str = ""


def make_case(seed, number, folder):
    """Write the files of a case into the empty folder; return the `Case`."""
    rng = np.random.default_rng([seed, number])
    make = pick(rng, MAKERS)
    return make(rng, folder)


def _image_case(rng, path):
    kind = pick(rng, ("volume", "volume", "volume", "labelmap", "mask", "program"))
    frame = pick(rng, (None, None, None, 0, 1))
    command = pick(rng, ("segment", "skeleton")) if kind == "program" else ""
    return Case(kind, str(path), frame, command)


def _voxels(rng):
    """A small scan with a vessel in it, or a labelmap; sometimes with a fourth dimension."""
    shape = tuple(rng.integers(2, 9, 3))
    if rng.random() < 0.2:
        shape = (int(rng.integers(1, 4)), *shape)
    if rng.random() < 0.3:
        return (rng.random(shape) < 0.7).astype(np.uint8)
    noise = rng.normal(100, 10, shape)
    if rng.random() < 0.3:
        noise = noise.astype(np.float32)
        noise.flat[0] = pick(rng, (1, np.nan, np.inf, 3e38))
        return noise
    return noise.astype(np.int16)


def _nrrd(rng, folder):
    voxels = _voxels(rng)
    packed = bool(rng.random() < 0.5)
    directions = ["(1,0,0)", "(0,1,0)", "(0,0,2)", "none"][: voxels.ndim]
    path = write_nrrd(folder / "scan.nrrd", voxels, packed=packed, directions=directions)
    header, _, data = path.read_bytes().partition(b"\n\n")
    if rng.random() < 0.5:
        text = spoil_lines(rng, header.decode(), ": ")
        content = text.encode("utf-8", "surrogateescape") + b"\n\n" + data
    else:
        content = spoil_bytes(rng, path.read_bytes(), 0, pick(rng, (len(header), None)))
    if rng.random() < 0.2:
        path.unlink()
        path = folder / "scan.nhdr"
        (folder / "scan.raw").write_bytes(data)
        name = pick(rng, ("scan.raw", "gone.raw", "../scan.raw", "/dev/zero", "LIST\nscan.raw",
                          "scan%02d.raw 0 3 1", "scan.nhdr", str(folder / "pipe")))  # fmt: skip
        os.mkfifo(folder / "pipe")
        content = content[: len(header)] + f"\ndata file: {name}\n".encode()
    path.write_bytes(content)
    return _image_case(rng, path)


def _metaimage(rng, folder):
    name = pick(
        rng, (None, None, "scan.raw", "../scan.raw", "/dev/zero", "LIST", "scan%d.raw 1 3 1")
    )
    path = folder / ("scan.mhd" if name else "scan.mha")
    packed = bool(rng.random() < 0.4)
    write_metaimage(path, _voxels(rng), packed=packed, data_name="scan.raw" if name else None)
    content = path.read_bytes()
    end = content.index(b"\n", content.index(b"ElementDataFile")) + 1
    text, data = content[:end].decode(), content[end:]
    if name:
        text = text.replace("scan.raw", name) + ("/dev/zero\n" * 8 if name == "LIST" else "")
    if rng.random() < 0.6:
        content = spoil_lines(rng, text, " = ").encode("utf-8", "surrogateescape") + data
    else:
        content = spoil_bytes(rng, text.encode() + data, 0, pick(rng, (end, None)))
    path.write_bytes(content)
    return _image_case(rng, path)


def _nifti(rng, folder):
    path = write_nifti(folder / "scan.nii", _voxels(rng))
    content = path.read_bytes()
    if rng.random() < 0.15:
        content = _as_nifti_2(content)
    elif rng.random() < 0.7:
        content = spoil_fields(rng, content, NIFTI_1)
    if rng.random() < 0.4:
        content = spoil_bytes(rng, content, 0, pick(rng, (352, None)))
    if rng.random() < 0.5:
        path.unlink()
        path = folder / "scan.nii.gz"
        content = gzip.compress(content, mtime=0)
        if rng.random() < 0.4:
            content = spoil_bytes(rng, content)
    path.write_bytes(content)
    return _image_case(rng, path)


def _as_nifti_2(content):
    """The same image with the longer header of NIfTI-2."""
    header = bytearray(544)
    struct.pack_into("<i", header, 0, 540)
    header[4:12] = b"n+2\0\r\n\x1a\n"
    header[12:16] = content[70:74]
    struct.pack_into("<8q", header, 16, *struct.unpack_from("<8h", content, 40))
    struct.pack_into("<8d", header, 104, *struct.unpack_from("<8f", content, 76))
    struct.pack_into("<qd", header, 168, 544, 1)
    struct.pack_into("<ii", header, 344, 0, 1)
    struct.pack_into("<12d", header, 400, *struct.unpack_from("<12f", content, 280))
    return bytes(header) + content[352:]


def _absurd_size(rng, folder):
    """A header that declares far more than the file holds, in every packing."""
    sizes = pick(rng, ([2**31 - 1] * 3, [2**16, 2**16, 1], [2**16] * 3, [1, 1, 2**40], [50000] * 3,
                       [2**32 + 6, 5, 4], [1, 2**32, 1]))  # fmt: skip
    text = " ".join(map(str, sizes))
    data = bytes(240)
    packing = pick(rng, ("raw", "gzip", "ascii", "hex", "bzip2"))
    if rng.random() < 0.5:
        path = folder / "scan.nrrd"
        data = gzip.compress(data) if packing == "gzip" else data
        if packing == "gzip" and rng.random() < 0.5:
            # The length at the end of the stream, which is kept modulo 2**32, agrees.
            data = data[:-4] + struct.pack("<I", int(np.prod(sizes, dtype=object)) * 2 % 2**32)
        path.write_bytes(
            f"NRRD0004\ntype: short\ndimension: 3\nsizes: {text}\nendian: little\n"
            f"encoding: {packing}\n\n".encode()
            + data
        )
    else:
        path = folder / "scan.mha"
        packed = packing == "gzip"
        data = zlib.compress(data) if packed else data
        path.write_bytes(
            f"ObjectType = Image\nNDims = 3\nBinaryData = {packing != 'ascii'}\n"
            f"BinaryDataByteOrderMSB = False\nCompressedData = {packed}\nDimSize = {text}\n"
            "ElementType = MET_SHORT\nElementDataFile = LOCAL\n".encode()
            + data
        )
    return _image_case(rng, path)


def _bomb(rng, folder):
    """A small file that unpacks to a gigabyte; the header declares a few voxels, or too many."""
    packed = zeros(1024 * MEBIBYTE)
    kind = rng.integers(3)
    side = pick(rng, (6, 3000))
    if kind == 0:
        path = folder / "scan.nrrd"
        path.write_bytes(
            f"NRRD0004\ntype: uchar\ndimension: 3\nsizes: {side} {side} {side}\n"
            "encoding: gzip\n\n".encode()
            + packed
        )
    elif kind == 1:
        path = folder / "scan.nii.gz"
        voxels = np.ones((4, 5, 6), np.int16)
        start = write_nifti(folder / "start.nii", voxels).read_bytes()
        start = spoil_fields(rng, start, (("f", 108), ("h", 40), ("h", 42), ("h", 48)))
        path.write_bytes(gzip.compress(start) + packed)
    else:
        path = folder / "scan.mha"
        path.write_bytes(
            "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"
            f"CompressedData = True\nCompressedDataSize = {len(packed)}\nDimSize = {side} {side} "
            f"{side}\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n".encode()
            + packed
        )
    return _image_case(rng, path)


def zeros(count):
    """So many bytes of zeros as gzip, a thousandth as long; not packed anew each time."""
    pack = zlib.compressobj(9, zlib.DEFLATED, 31)
    start = pack.compress(bytes(MEBIBYTE)) + pack.flush(zlib.Z_FULL_FLUSH)
    more = pack.compress(bytes(MEBIBYTE)) + pack.flush(zlib.Z_FULL_FLUSH)
    return start + more * (count // MEBIBYTE - 1)


def _seeds(rng, folder):
    points = [
        {"id": str(n), "label": f"F-{n}", "position": [1.0, 2.0, 3.0 + n], "selected": True,
         "orientation": [1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0], "positionStatus": "defined"}
        for n in range(int(rng.integers(0, 4)))
    ]  # fmt: skip
    markup = {"type": "Fiducial", "coordinateSystem": "LPS", "coordinateUnits": "mm",
              "controlPoints": points, "measurements": [], "display": {"opacity": 1.0}}  # fmt: skip
    content = {"@schema": "https://raw.githubusercontent.com/slicer/slicer/master/markups-schema",
               "markups": [markup]}  # fmt: skip
    for _ in range(rng.integers(0, 3)):
        content = spoil_json(rng, content)
    depth = int(10 ** rng.uniform(0, 5.5))
    text = json.dumps(content).replace(f'"{DEEP}"', "[" * depth + "]" * depth).encode()
    if rng.random() < 0.3:
        text = spoil_bytes(rng, text)
    path = folder / "seeds.mrk.json"
    path.write_bytes(text)
    return Case("seeds", str(path))


SCENE = b"""<MRML version="Slicer4.4.0" userTags="">
<FiducialListStorage id="vtkMRMLMarkupsFiducialStorageNode1" fileName="%s"></FiducialListStorage>
<ModelStorage id="vtkMRMLModelStorageNode1" name="m" fileName="%s"></ModelStorage>
<Model id="vtkMRMLModelNode1" name="model" storageNodeRef="vtkMRMLModelStorageNode1"></Model>
</MRML>"""


def _bundle(rng, folder):
    """A scene in one file whose parts would like to lie elsewhere."""
    outside = folder.parent / "outside"
    path = folder / "scene.mrb"
    target = pick(rng, ("../../../evil.txt", "a/../../../evil.txt", str(outside / "evil.txt"),
                        "..\\..\\evil.txt", "scene/./../../evil.txt", "C:/evil.txt", "a\x00evil",
                        "x" * 300, "scene/" * 200 + "a", "scene/../../evil.mrml"))  # fmt: skip
    file = pick(
        rng, (b"Data/a.vtk", b"../../../evil.vtk", b"http://localhost:1/a.vtk", b"/dev/zero")
    )
    scene = SCENE % (file, file)
    if rng.random() < 0.4:
        scene = spoil_bytes(rng, scene)
    if rng.random() < 0.25:
        _write_tar(path, target, outside, scene)
        return Case("scene", str(path))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("scene/scene.mrml", scene)
        kind = rng.integers(4)
        if kind == 0:
            bundle.writestr(target, "evil")
        elif kind == 1:
            link = zipfile.ZipInfo("scene/link")
            link.create_system, link.external_attr = 3, 0o120777 << 16
            bundle.writestr(link, str(outside))
            bundle.writestr("scene/link/evil.txt", "evil")
        elif kind == 2:
            bundle.writestr("scene/Data/zeros", bytes(400 * MEBIBYTE), compresslevel=1)
    if rng.random() < 0.3:
        path.write_bytes(spoil_bytes(rng, path.read_bytes()))
    return Case("scene", str(path))


def _write_tar(path, target, outside, scene):
    """A tar archive under the bundle's name: the library that unpacks it knows many formats."""
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("scene/link")
        link.type, link.linkname = tarfile.SYMTYPE, str(outside)
        archive.addfile(link)
        for name, content in (("scene/link/evil.txt", b"evil"), ("scene/scene.mrml", scene),
                              (target.replace("\x00", ""), b"evil")):  # fmt: skip
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def _dicom(rng, folder):
    scan = folder / "scan"
    paths = dicom_files.write_series(scan, int(rng.integers(1, 7)))
    for _ in range(rng.integers(1, 3)):
        pick(rng, DICOM_FAULTS)(rng, scan, paths)
    kind = pick(rng, ("volume", "volume", "volume", "volume", "program"))
    return Case(kind, str(scan), None, "segment" if kind == "program" else "")


def _missing_slice(rng, scan, paths):
    if paths:
        paths.pop(int(rng.integers(len(paths)))).unlink(missing_ok=True)


def _doubled_slice(rng, scan, paths):
    tags = dicom_files.slice_tags(int(rng.integers(3)))
    (scan / "again.dcm").write_bytes(dicom_files.dicom_bytes(tags))


def _second_series(rng, scan, paths):
    options = {"rows": int(rng.integers(2, 9)), "series": pick(rng, ("1", "2"))}
    dicom_files.write_series(scan, int(rng.integers(1, 4)), **options)


STRANGE_TEXTS = (
    "", "nan\\nan\\nan", "1\\0", "inf\\0\\0", "1e400\\0\\0", "A" * 3000, "\\\\", "\xe9\xff", "-1",
    "0\\0\\0\\0\\0\\0", "nan\\0\\0\\0\\1\\0", "\x1b[2J", "1\\0\\0\\1\\0\\0",
)  # fmt: skip
SYNTAX_ENDS = (".4.70", ".4.90", ".5", ".2", "", ".1.99")


def _strange_value(rng, scan, paths):
    number = int(rng.integers(4))
    tags = dicom_files.slice_tags(number)
    tag = pick(rng, sorted(tags))
    kind, value = tags[tag]
    if isinstance(value, str):
        value = pick(rng, STRANGE_TEXTS)
    elif len(value) == 2:
        value = struct.pack("<H", pick(rng, (0, 1, 2, 3, 7, 8, 12, 32, 255, 32767, 65535)))
    else:
        value = value[: int(rng.integers(len(value)))]
    tags[tag] = kind, value
    (scan / f"1-{number:02d}.dcm").write_bytes(dicom_files.dicom_bytes(tags))


def _lost_tag(rng, scan, paths):
    number = int(rng.integers(4))
    tags = dicom_files.slice_tags(number)
    del tags[pick(rng, sorted(tags))]
    (scan / f"1-{number:02d}.dcm").write_bytes(dicom_files.dicom_bytes(tags))


def _spoilt_file(rng, scan, paths):
    here = [path for path in paths if path.exists()]
    if here:
        path = pick(rng, here)
        path.write_bytes(spoil_bytes(rng, path.read_bytes(), 128))


def _other_syntax(rng, scan, paths):
    syntax = pick(rng, [f"1.2.840.10008.1.2{end}" for end in SYNTAX_ENDS] + ["9"])
    tags = dicom_files.slice_tags(0)
    (scan / "1-00.dcm").write_bytes(dicom_files.dicom_bytes(tags, syntax))


def _strange_entry(rng, scan, paths):
    kind = rng.integers(5)
    if kind == 0:
        os.mkfifo(scan / "pipe.dcm")
    elif kind == 1:
        (scan / "loop").symlink_to(scan / "loop")
    elif kind == 2:
        (scan / "zero.dcm").symlink_to("/dev/zero")
    elif kind == 3:
        (scan / "notes.txt").write_bytes(rng.bytes(int(rng.integers(1, 3000))))
    else:
        (scan / "folder.dcm").mkdir()


DICOM_FAULTS = (
    _missing_slice, _doubled_slice, _second_series, _strange_value, _strange_value, _strange_value,
    _lost_tag, _spoilt_file, _spoilt_file, _other_syntax, _strange_entry,
)  # fmt: skip
MAKERS = (
    *[_nrrd] * 5, *[_metaimage] * 5, *[_nifti] * 5, *[_dicom] * 4, *[_seeds] * 3, *[_bundle] * 2,
    _absurd_size, _absurd_size, _bomb,
)  # fmt: skip
