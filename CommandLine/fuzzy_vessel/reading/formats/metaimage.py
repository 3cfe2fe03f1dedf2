"""MetaImage (.mha, and .mhd with its data beside it): lines of `Key = value`, then the voxels."""

from pathlib import Path

from .header import Header

TYPES = {
    "MET_CHAR": ("int8", 1),
    "MET_UCHAR": ("uint8", 1),
    "MET_SHORT": ("int16", 2),
    "MET_USHORT": ("uint16", 2),
    "MET_INT": ("int32", 4),
    "MET_UINT": ("uint32", 4),
    "MET_LONG": ("int64", 8),
    "MET_ULONG": ("uint64", 8),
    "MET_LONG_LONG": ("int64", 8),
    "MET_ULONG_LONG": ("uint64", 8),
    "MET_FLOAT": ("float32", 4),
    "MET_DOUBLE": ("float64", 8),
}
# Fields with one entry for each axis.
PER_AXIS = (
    "DimSize", "Offset", "Position", "Origin", "CenterOfRotation", "ElementSpacing", "ElementSize",
)  # fmt: skip
DECISIVE = (
    "NDims", "DimSize", "ElementType", "ElementNumberOfChannels", "BinaryData", "CompressedData",
    "HeaderSize", "ElementDataFile",
)  # fmt: skip
MAX_HEADER = 1 << 16


def read(path: Path) -> Header:
    """Read the `Header` of a MetaImage file.

    Raises
    ------
    ValueError
        The header cannot be true; the message says what is wrong.
    """
    text = _text(path)
    fields = _unambiguous(_fields(text))
    try:
        sizes = [int(size) for size in fields["DimSize"].split()]
        name, value_bytes = TYPES[fields["ElementType"]]
        place = fields["ElementDataFile"]
    except (KeyError, ValueError) as error:
        raise ValueError(f"its header lacks a usable {error}") from error
    if not sizes or min(sizes) < 1:
        raise ValueError(f"its header declares the sizes {sizes}")
    if len(sizes) > 4:
        raise ValueError(f"it has {len(sizes)} dimensions")
    if fields.get("NDims", "") != str(len(sizes)):
        raise ValueError(f"its header declares {len(sizes)} sizes, and NDims {fields.get('NDims')}")
    sizes += [1] * (3 - len(sizes))
    data, offset = _place(path, place, fields, len(text))
    packing = "none"
    if _is_true(fields, "CompressedData", "False"):
        packing = "stream"
        _refuse_packed_size(fields.get("CompressedDataSize", "0"), data)
    if not _is_true(fields, "BinaryData", "True"):
        packing = "text"
    return Header(
        path=path,
        sizes=tuple(sizes[:3]),
        type=name,
        values=int(fields.get("ElementNumberOfChannels", 1)),
        frames=sizes[3] if len(sizes) == 4 else None,
        frames_first=False,
        value_bytes=value_bytes,
        data=data,
        offset=offset,
        compression=packing,
        text=text,
    )


def write_frame(header: Header, data: bytes, folder: Path) -> Path:
    """Write one frame of a 4D file as a 3D file; return its path."""
    lines = []
    for key, value in _fields(header.text):
        numbers = value.split()
        if key in ("TransformMatrix", "Orientation", "Rotation"):
            numbers = numbers[0:3] + numbers[4:7] + numbers[8:11]
        elif key in PER_AXIS:
            numbers = numbers[:3]
        elif key == "CompressedDataSize":
            continue
        lines.append((key, " ".join(numbers)))
    replaced = {"NDims": "3", "CompressedData": "False", "ElementDataFile": "LOCAL"}
    text = "".join(f"{key} = {replaced.get(key, value)}\n" for key, value in lines)
    path = folder / "frame.mha"
    path.write_bytes(text.encode() + data)
    return path


def _text(path):
    """The header up to and with the line ElementDataFile, which is the last one."""
    with path.open("rb") as file:
        start = file.read(MAX_HEADER)
    at = start.find(b"ElementDataFile")
    end = start.find(b"\n", at)
    if at < 0:
        raise ValueError("it does not start with a MetaImage header")
    return start[: end + 1] if end >= 0 else start


def _fields(text):
    for line in text.decode("utf-8", "replace").splitlines():
        key, equals, value = line.partition("=")
        if equals:
            yield key.strip(), value.strip()


def _unambiguous(fields):
    """The fields as a dict; what tells where and how long the data are must not stand twice."""
    found = {}
    for key, value in fields:
        if key in DECISIVE and key in found:
            raise ValueError(f"its header says {key} twice")
        found[key] = value
    return found


def _is_true(fields, key, otherwise):
    value = fields.get(key, otherwise).lower()
    if value not in ("true", "false"):
        raise ValueError(f"its header declares {key} = {value}")
    return value == "true"


def _refuse_packed_size(text, data):
    """MetaIO, which reads the file later, reserves what the header claims."""
    if not text.isdecimal() or int(text) > data.stat().st_size:
        raise ValueError(f"its header declares CompressedDataSize = {text}")


def _place(path, name, fields, header_bytes):
    """The file that holds the voxels and where they start in it."""
    if name.upper() == "LOCAL":
        return path, header_bytes
    if name.upper().startswith("LIST") or "%" in name:
        raise ValueError("its voxels lie in several files; save it as one file, with Slicer")
    data = path.parent / name
    if not data.is_file():
        raise ValueError(f"its data file {name} is missing")
    skip = int(fields.get("HeaderSize", 0))
    return data, skip if skip >= 0 else None
