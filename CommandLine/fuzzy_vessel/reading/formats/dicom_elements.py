"""Checks the lengths of all elements of a DICOM file (PS3.5, chapter 7).

GDCM, which reads the file later, believes every length: a damaged file of a few hundred bytes can
cost it gigabytes and minutes. pydicom would not spare this walk: it takes what is left of an
element that is cut short, and GDCM still reads the pixels.
"""

import mmap
import struct
from pathlib import Path

PREAMBLE = 128
MAGIC = b"DICM"
LONG = (b"OB", b"OD", b"OF", b"OL", b"OV", b"OW", b"SQ", b"SV", b"UC", b"UN", b"UR", b"UT", b"UV")
SHORT = (
    b"AE", b"AS", b"AT", b"CS", b"DA", b"DS", b"DT", b"FD", b"FL", b"IS", b"LO", b"LT", b"PN",
    b"SH", b"SL", b"SS", b"ST", b"TM", b"UI", b"UL", b"US",
)  # fmt: skip
META_GROUP, TRANSFER_SYNTAX, PIXEL_DATA = 0x0002, (0x0002, 0x0010), (0x7FE0, 0x0010)
ITEM, ITEM_END, SEQUENCE_END = (0xFFFE, 0xE000), (0xFFFE, 0xE00D), (0xFFFE, 0xE0DD)
UNDEFINED = 0xFFFFFFFF
IMPLICIT, BIG_ENDIAN, DEFLATED = (
    "1.2.840.10008.1.2",
    "1.2.840.10008.1.2.2",
    "1.2.840.10008.1.2.1.99",
)
MAX_ELEMENTS, MAX_DEPTH = 500_000, 32


def is_dicom(path: Path) -> bool:
    """Whether a file is DICOM: by the word at byte 128, or by elements from group 8 on."""
    with path.open("rb") as file:
        start = file.read(PREAMBLE + len(MAGIC))
    return start[PREAMBLE:] == MAGIC or (start[:2] == b"\x08\x00" and start[3:4] == b"\x00")


def check_elements(path: Path) -> None:
    """Walk through all elements of a DICOM file.

    Raises
    ------
    ValueError
        An element is longer than what holds it, or is none; the message says where. Or the elements
        are packed (deflated transfer syntax), which is not read here.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at, syntax = 0, None
        if data[PREAMBLE : PREAMBLE + len(MAGIC)] == MAGIC:
            at, syntax = _meta(data, PREAMBLE + len(MAGIC))
        if syntax == DEFLATED:
            raise ValueError("its elements are packed (deflated transfer syntax)")
        explicit = syntax != IMPLICIT
        if syntax is None:
            explicit = data[at + 4 : at + 6] in LONG + SHORT
        _Walk(data, explicit, ">" if syntax == BIG_ENDIAN else "<").elements(at, len(data))


def _meta(data, at):
    """Where the file's meta information ends, and the transfer syntax that it names."""
    walk, syntax = _Walk(data, True, "<"), ""
    while at + 8 <= len(data) and walk.tag(at)[0] == META_GROUP:
        tag, _, start, length = walk.head(at, len(data))
        if tag == TRANSFER_SYNTAX:
            syntax = data[start : start + length].decode("latin-1").strip(" \0")
        at = start + length
    return at, syntax


class _Walk:
    def __init__(self, data, explicit, order):
        self._data = data
        self._explicit = explicit
        self._order = order
        self._count = 0

    def tag(self, at):
        return struct.unpack_from(self._order + "HH", self._data, at)

    def head(self, at, end):
        """Tag, type, start and length of the element's value; the length may be undefined."""
        self._count += 1
        if self._count > MAX_ELEMENTS:
            raise ValueError(f"it has more than {MAX_ELEMENTS:,} elements")
        if at + 8 > end:
            raise ValueError(f"it ends within an element at byte {at}")
        tag, kind = self.tag(at), bytes(self._data[at + 4 : at + 6])
        if tag[0] == ITEM[0] or not self._explicit:
            kind, start = b"", at + 8
            (length,) = struct.unpack_from(self._order + "I", self._data, at + 4)
        elif kind in LONG:
            if at + 12 > end:
                raise ValueError(f"it ends within an element at byte {at}")
            start = at + 12
            (length,) = struct.unpack_from(self._order + "I", self._data, at + 8)
        elif kind in SHORT:
            start = at + 8
            (length,) = struct.unpack_from(self._order + "H", self._data, at + 6)
        else:
            raise ValueError(f"at byte {at} there is no element")
        if length != UNDEFINED and start + length > end:
            raise ValueError(
                f"the element ({tag[0]:04x},{tag[1]:04x}) at byte {at} claims {length:,} bytes, "
                f"of which {end - start:,} are there"
            )
        return tag, kind, start, length

    def elements(self, at, end, depth=0):
        """Walk through elements up to `end` or the end of an item; return where that is."""
        if depth > MAX_DEPTH:
            raise ValueError(f"its sequences are nested more than {MAX_DEPTH} deep")
        while at < end:
            tag, kind, start, length = self.head(at, end)
            if tag == ITEM_END:
                return start
            if length == UNDEFINED:
                # A value of unknown type and length is a sequence of the implicit kind.
                opaque = tag == PIXEL_DATA
                inside = _Walk(self._data, False, "<") if kind == b"UN" else self
                at = inside.items(start, end, depth, opaque=opaque)
            else:
                at = start + length
                if kind == b"SQ" or (
                    not kind and tag != PIXEL_DATA and self._starts_item(start, at)
                ):
                    self.items(start, at, depth)
        return at

    def items(self, at, end, depth, opaque=False):
        """Walk through the items of a sequence, or skip the fragments of packed pixels."""
        while at < end:
            tag, _, start, length = self.head(at, end)
            if tag == SEQUENCE_END:
                return start
            if tag != ITEM:
                raise ValueError(f"at byte {at} there is no item of a sequence")
            if length == UNDEFINED:
                at = self.elements(start, end, depth + 1)
            else:
                at = start + length
                if not opaque:
                    self.elements(start, at, depth + 1)
        return at

    def _starts_item(self, start, end):
        return start + 8 <= end and self.tag(start) == ITEM
