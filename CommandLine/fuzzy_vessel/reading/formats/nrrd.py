"""NRRD (.nrrd, and .nhdr with its data beside it); teem.sourceforge.net/nrrd/format.html."""

from pathlib import Path

import numpy as np

from .header import Header
from .nrrd_fields import ENTRY, OTHER_NAMES, TYPES, fields_of, header_text, refuse_long_lines

# Fields with one entry for each axis: entries of an axis that goes are taken out of them.
PER_AXIS = ("sizes", "spacings", "thicknesses", "axis mins", "axis maxs", "axismins", "axismaxs",
            "centers", "centerings", "kinds", "labels", "units", "space directions")  # fmt: skip
TIME_KINDS = ("list", "time", "domain", "space", "???", "none")
PACKINGS = {
    "raw": "none", "gzip": "stream", "gz": "stream",
    "txt": "text", "text": "text", "ascii": "text", "hex": "hex",
}  # fmt: skip


def read(path: Path) -> Header:
    """Read the `Header` of a NRRD file.

    Raises
    ------
    ValueError
        The header cannot be true; the message says what is wrong.
    """
    text, after = header_text(path)
    refuse_long_lines(text)
    fields = dict(fields_of(text))
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


def write_frame(header: Header, data: bytes, folder: Path) -> Path:
    """Write one frame of a 4D file as a 3D file; return its path."""
    axis = 0 if header.frames_first else 3
    lines = [header.text.split(b"\n", 1)[0].decode("utf-8", "replace").strip()]
    for key, value in fields_of(header.text):
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


def read_voxels(path: Path) -> tuple[np.ndarray, tuple[float, float, float]]:
    """Read a trusted 3D file of one number a voxel without Slicer, for the benchmark.

    Returns
    -------
    voxels : ndarray, shape (K, J, I)
    spacing : tuple of 3 float
        K, J, I in mm.

    Raises
    ------
    ValueError
        The file is damaged, or is no such volume.
    """
    header = read(path)
    if header.missing_bytes() or header.values != 1 or header.frames or not header.readable:
        raise ValueError("its voxels are damaged or not one number each")
    fields = dict(fields_of(header.text))
    kind = np.dtype(header.type).newbyteorder("B" if fields.get("endian") == "big" else "L")
    voxels = np.frombuffer(header.read_frame(), kind)
    steps = [entry.strip("()").split(",") for entry in ENTRY.findall(fields["space directions"])]
    k, j, i = (float(np.linalg.norm(np.array(step, float))) for step in steps[::-1])
    return voxels.reshape(header.sizes[::-1]), (k, j, i)


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
