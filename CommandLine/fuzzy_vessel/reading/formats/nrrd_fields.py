"""The fields of a NRRD header as text."""

import re
from collections.abc import Iterator
from pathlib import Path

TYPES = {
    "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4,
    "int64": 8, "uint64": 8, "float32": 4, "float64": 8,
}  # fmt: skip
OTHER_NAMES = {
    "signed char": "int8", "unsigned char": "uint8", "uchar": "uint8",
    "short": "int16", "short int": "int16", "signed short": "int16", "signed short int": "int16",
    "ushort": "uint16", "unsigned short": "uint16", "unsigned short int": "uint16",
    "int": "int32", "signed int": "int32", "uint": "uint32", "unsigned int": "uint32",
    "longlong": "int64", "long long": "int64", "long long int": "int64",
    "signed long long": "int64", "signed long long int": "int64",
    "ulonglong": "uint64", "unsigned long long": "uint64", "unsigned long long int": "uint64",
    "float": "float32", "double": "float64",
}  # fmt: skip
# Entries of a field with one for each axis.
ENTRY = re.compile(r'"[^"]*"|\([^)]*\)|\S+')
MAX_HEADER, MAX_LINE = 1 << 20, 1000


def header_text(path: Path) -> tuple[bytes, int]:
    """Return the header without the empty line that ends it, and where the data start after it."""
    with path.open("rb") as file:
        start = file.read(MAX_HEADER)
    if not start.startswith(b"NRRD000"):
        raise ValueError("it does not start with a NRRD header")
    end = re.search(rb"\r?\n\r?\n", start)
    if end is None:
        return start, len(start)
    return start[: end.start()], end.end()


def refuse_long_lines(text: bytes) -> None:
    """Raise `ValueError` for a long line.

    Teem, which reads the file later, crashes where it reports a bad line that is long.
    """
    for number, line in enumerate(text.split(b"\n"), 1):
        if len(line) > MAX_LINE and b":=" not in line and not line.startswith(b"#"):
            raise ValueError(f"line {number} of its header has {len(line):,} characters")


def fields_of(text: bytes) -> Iterator[tuple[str, str]]:
    """Yield key and value of each field; keys in lower case."""
    for line in text.decode("utf-8", "replace").splitlines()[1:]:
        key, colon, value = line.partition(": ")
        if colon and ":=" not in key and not line.startswith("#"):
            yield key.strip().lower(), value.strip()
