"""NRRD (.nrrd, and .nhdr with its data beside it); teem.sourceforge.net/nrrd/format.html."""

import re

from .header import Header

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
# Fields with one entry for each axis: entries of an axis that goes are taken out of them.
PER_AXIS = ("sizes", "spacings", "thicknesses", "axis mins", "axis maxs", "axismins", "axismaxs",
            "centers", "centerings", "kinds", "labels", "units", "space directions")  # fmt: skip
ENTRY = re.compile(r'"[^"]*"|\([^)]*\)|\S+')
TIME_KINDS = ("list", "time", "domain", "space", "???", "none")
PACKINGS = {
    "raw": "none", "gzip": "stream", "gz": "stream",
    "txt": "text", "text": "text", "ascii": "text", "hex": "hex",
}  # fmt: skip
LONGEST, LONGEST_LINE = 1 << 20, 1000


def read(path):
    """The `Header` of a NRRD file."""
    text, after = _text(path)
    _refuse_long_lines(text)
    fields = dict(_fields(text))
    try:
        sizes = [int(size) for size in fields["sizes"].split()]
        name = fields["type"]
    except (KeyError, ValueError) as error:
        raise ValueError(f"its header lacks a usable {error}") from error
    if not sizes or min(sizes) < 1:
        raise ValueError(f"its header declares the sizes {sizes}")
    name = OTHER_NAMES.get(name, name.removesuffix("_t"))
    if name not in TYPES:
        raise ValueError(f"its header declares the voxel type {fields['type']}")
    axis = _extra_axis(fields, sizes)
    extra = sizes.pop(axis) if axis is not None else None
    frames = extra if axis is not None and _is_time(fields, axis) else None
    data, offset = _place(path, fields, after)
    encoding = fields.get("encoding", "").lower()
    if encoding not in PACKINGS:
        raise ValueError(
            f"its voxels are packed in a way that is not read here ({encoding or 'no name'}); save "
            "it with gzip or unpacked, with Slicer"
        )
    return Header(
        path=path,
        sizes=tuple(sizes + [1] * (3 - len(sizes))),
        type=name,
        values=extra if extra is not None and frames is None else 1,
        frames=frames,
        frames_first=axis == 0,
        value_bytes=TYPES[name],
        data=data,
        offset=offset,
        compression=PACKINGS[encoding],
        text=text,
    )


def write_frame(header, data, folder):
    """Write one frame of a 4D file as a 3D file; return its path."""
    axis = 0 if header.frames_first else 3
    lines = [header.text.split(b"\n", 1)[0].decode("utf-8", "replace").strip()]
    for key, value in _fields(header.text):
        if key in PER_AXIS:
            entries = ENTRY.findall(value)
            if len(entries) == 4:
                del entries[axis]
            value = " ".join(entries)
        if key not in ("data file", "datafile", "byte skip", "byteskip", "dimension", "encoding"):
            lines.append(f"{key}: {value}")
    lines += ["dimension: 3", "encoding: raw"]
    # `dimension` has to stand before the fields that have an entry for each axis.
    lines.sort(key=lambda line: (not line.startswith("NRRD"), not line.startswith("dimension")))
    path = folder / "frame.nrrd"
    path.write_bytes("\n".join(lines).encode() + b"\n\n" + data)
    return path


def _text(path):
    """The header without the empty line that ends it, and where the data start after it."""
    with path.open("rb") as file:
        start = file.read(LONGEST)
    if not start.startswith(b"NRRD000"):
        raise ValueError("it does not start with a NRRD header")
    end = re.search(rb"\r?\n\r?\n", start)
    if end is None:
        return start, len(start)
    return start[: end.start()], end.end()


def _refuse_long_lines(text):
    """Teem, which reads the file later, crashes where it reports a bad line that is long."""
    for number, line in enumerate(text.split(b"\n"), 1):
        if len(line) > LONGEST_LINE and b":=" not in line and not line.startswith(b"#"):
            raise ValueError(f"line {number} of its header has {len(line):,} characters")


def _fields(text):
    for line in text.decode("utf-8", "replace").splitlines()[1:]:
        key, colon, value = line.partition(": ")
        if colon and ":=" not in key and not line.startswith("#"):
            yield key.strip().lower(), value.strip()


def _extra_axis(fields, sizes):
    """The axis that is not one of the three in space; None for a plain volume."""
    if len(sizes) < 4:
        # Two axes in space and one of colours, as in a photograph.
        kinds = fields.get("kinds", "").lower().split()
        return 0 if len(sizes) == 3 and kinds and _is_colour(kinds[0]) else None
    if len(sizes) > 4:
        raise ValueError(f"it has {len(sizes)} dimensions")
    directions = ENTRY.findall(fields.get("space directions", ""))
    if directions.count("none") == 1:
        return directions.index("none")
    kinds = fields.get("kinds", "").lower().split()
    return 0 if kinds and kinds[0] not in ("domain", "space", "???", "none") else 3


def _is_time(fields, axis):
    kinds = fields.get("kinds", "").lower().split()
    return axis == 3 or (len(kinds) > axis and kinds[axis] in TIME_KINDS)


def _is_colour(kind):
    return "color" in kind or "vector" in kind


def _place(path, fields, after):
    """The file that holds the voxels and where they start in it."""
    if fields.get("line skip", fields.get("lineskip", "0")) != "0":
        return path, None
    skip = int(fields.get("byte skip", fields.get("byteskip", "0")))
    name = fields.get("data file", fields.get("datafile"))
    if name is None:
        return path, after + skip if skip >= 0 else None
    if name.upper().startswith("LIST") or "%" in name:
        raise ValueError("its voxels lie in several files; save it as one file, with Slicer")
    data = path.parent / name
    if not data.is_file():
        raise ValueError(f"its data file {name} is missing")
    return data, skip if skip >= 0 else None
