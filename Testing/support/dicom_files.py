"""Small CT slices as DICOM files, written byte by byte (explicit little endian)."""

import struct

import numpy as np

CT_STORAGE = "1.2.840.10008.5.1.4.1.1.2"
EXPLICIT_LITTLE_ENDIAN = "1.2.840.10008.1.2.1"
ROOT = "1.2.826.0.1.3680043.10.543"


def element(group, number, kind, value):
    """One element: tag, type, length and value, padded to even length."""
    if isinstance(value, str):
        value = value.encode("latin-1")
        value += (b"\0" if kind == b"UI" else b" ") * (len(value) % 2)
    head = struct.pack("<HH", group, number) + kind
    length = struct.pack("<HI", 0, len(value)) if kind == b"OW" else struct.pack("<H", len(value))
    return head + length + value


def slice_tags(number):
    """The elements of slice `number` of a series as a dict: (group, number) to type and value."""
    image = np.random.default_rng(number).normal(100, 20, (6, 7)).astype("<i2")
    short = {2: 1, 0x10: 6, 0x11: 7, 0x100: 16, 0x101: 16, 0x102: 15, 0x103: 1}
    texts = {
        (0x0008, 0x0016): (b"UI", CT_STORAGE),
        (0x0008, 0x0018): (b"UI", f"{ROOT}.1.{number + 1}"),
        (0x0008, 0x0060): (b"CS", "CT"),
        (0x0020, 0x000D): (b"UI", f"{ROOT}.9"),
        (0x0020, 0x000E): (b"UI", f"{ROOT}.1"),
        (0x0020, 0x0032): (b"DS", f"-10\\-20\\{2 * number}"),
        (0x0020, 0x0037): (b"DS", "1\\0\\0\\0\\1\\0"),
        (0x0028, 0x0004): (b"CS", "MONOCHROME2"),
        (0x0028, 0x0030): (b"DS", "1\\1"),
        (0x7FE0, 0x0010): (b"OW", image.tobytes()),
    }
    return texts | {(0x28, tag): (b"US", struct.pack("<H", n)) for tag, n in short.items()}


def dicom_bytes(tags):
    """A file of these elements."""
    texts = {2: CT_STORAGE, 3: f"{ROOT}.1", 0x10: EXPLICIT_LITTLE_ENDIAN, 0x12: ROOT}
    meta = b"".join(element(2, number, b"UI", text) for number, text in texts.items())
    meta = element(2, 0, b"UL", struct.pack("<I", len(meta))) + meta
    body = b"".join(element(*tag, *value) for tag, value in sorted(tags.items()))
    return bytes(128) + b"DICM" + meta + body


def write_series(folder):
    """Write a series of four slices into the folder; return its paths."""
    folder.mkdir()
    paths = [folder / f"{number:02d}.dcm" for number in range(4)]
    for number, path in enumerate(paths):
        path.write_bytes(dicom_bytes(slice_tags(number)))
    return paths
