"""Small CT slices as DICOM files, written byte by byte (explicit little endian)."""

import struct

import numpy as np

LONG = (b"OB", b"OW", b"SQ", b"UN", b"UT")
CT_STORAGE = "1.2.840.10008.5.1.4.1.1.2"
EXPLICIT_LITTLE_ENDIAN = "1.2.840.10008.1.2.1"
ROOT = "1.2.826.0.1.3680043.10.543"


def element(group, number, kind, value):
    """One element: tag, type, length and value, padded to even length."""
    if isinstance(value, str):
        value = value.encode("latin-1", "replace")
        value += (b"\0" if kind == b"UI" else b" ") * (len(value) % 2)
    head = struct.pack("<HH", group, number) + kind
    if kind in LONG:
        return head + struct.pack("<HI", 0, len(value)) + value
    return head + struct.pack("<H", len(value) & 0xFFFF) + value


def slice_tags(number, rows=6, columns=7, series="1", spacing=2.0):
    """The elements of slice `number` of a series as a dict: (group, number) to type and value."""
    image = np.random.default_rng(number).normal(100, 20, (rows, columns)).astype("<i2")
    short = {
        (0x0028, 0x0002): 1, (0x0028, 0x0010): rows, (0x0028, 0x0011): columns,
        (0x0028, 0x0100): 16, (0x0028, 0x0101): 16, (0x0028, 0x0102): 15, (0x0028, 0x0103): 1,
    }  # fmt: skip
    texts = {
        (0x0008, 0x0016): (b"UI", CT_STORAGE),
        (0x0008, 0x0018): (b"UI", f"{ROOT}.{series}.{number + 1}"),
        (0x0008, 0x0060): (b"CS", "CT"),
        (0x0008, 0x103E): (b"LO", f"series {series}"),
        (0x0020, 0x000D): (b"UI", f"{ROOT}.9"),
        (0x0020, 0x000E): (b"UI", f"{ROOT}.{series}"),
        (0x0020, 0x0011): (b"IS", series),
        (0x0020, 0x0013): (b"IS", str(number + 1)),
        (0x0020, 0x0032): (b"DS", f"-10\\-20\\{number * spacing:g}"),
        (0x0020, 0x0037): (b"DS", "1\\0\\0\\0\\1\\0"),
        (0x0028, 0x0004): (b"CS", "MONOCHROME2"),
        (0x0028, 0x0030): (b"DS", "1\\1"),
        (0x0028, 0x1052): (b"DS", "0"),
        (0x0028, 0x1053): (b"DS", "1"),
    }
    tags = {tag: (b"US", struct.pack("<H", value)) for tag, value in short.items()}
    return texts | tags | {(0x7FE0, 0x0010): (b"OW", image.tobytes())}


def dicom_bytes(tags, syntax=EXPLICIT_LITTLE_ENDIAN):
    """A file of these elements."""
    meta = b"".join(
        element(2, number, b"UI", text)
        for number, text in ((2, CT_STORAGE), (3, f"{ROOT}.1"), (0x10, syntax), (0x12, ROOT))
    )
    meta = element(2, 0, b"UL", struct.pack("<I", len(meta))) + meta
    body = b"".join(element(*tag, *value) for tag, value in sorted(tags.items()))
    return bytes(128) + b"DICM" + meta + body


def write_series(folder, count=4, **options):
    """Write a series into the folder; return its paths."""
    folder.mkdir(exist_ok=True)
    paths = []
    for number in range(count):
        paths.append(folder / f"{options.get('series', 1)}-{number:02d}.dcm")
        paths[-1].write_bytes(dicom_bytes(slice_tags(number, **options)))
    return paths
