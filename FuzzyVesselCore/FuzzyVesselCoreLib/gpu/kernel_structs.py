"""Structs that kernels take by value, filled by the names of their fields.

Fields, their order and their types are read from the struct's declaration in the `.cu` or `.cuh`
file, the only place where they stand. A wrong name or type is an error before the launch.
"""

import functools
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .launches import Record
from .nvrtc import read_source

_TYPES = {  # as in the module struct, in C's sizes
    "bool": "?",
    "char": "b",
    "unsigned char": "B",
    "u8": "B",
    "short": "h",
    "unsigned short": "H",
    "u16": "H",
    "int": "i",
    "unsigned": "I",
    "unsigned int": "I",
    "u32": "I",
    "long long": "q",
    "unsigned long long": "Q",
    "u64": "Q",
    "float": "f",
    "double": "d",
}
_POINTER = "Q"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|^#[^\n]*", re.DOTALL | re.MULTILINE)
_BUILT_IN = r"(?:unsigned|long|short|char|int|float|double)"
_DECLARATION = re.compile(rf"(?:const )?({_BUILT_IN}(?: {_BUILT_IN})*|\w+)\b(.*)")


KernelStruct = Record


def fill_struct(
    path: str | Path, name: str, values: dict[str, Any], address: Callable[[Any], int]
) -> KernelStruct:
    """Fill a struct that is declared in a `.cu` file or in what it includes.

    Parameters
    ----------
    path : str or Path
        The file.
    name : str
        The struct.
    values : dict
        By field: a device array or None (null) for a pointer, a number for others.
    address : callable
        The address of a device array.

    Returns
    -------
    KernelStruct

    Raises
    ------
    TypeError
        A field has no value, or a value no field, or its type is not the declared one.
    OverflowError
        A number does not fit its field.
    """
    layout = struct_layout(path, name)
    if values.keys() != layout.fields.keys():
        wrong = ", ".join(sorted(values.keys() ^ layout.fields.keys()))
        raise TypeError(f"{name}: wrong or missing fields: {wrong}")
    arrays = []
    packed = []
    for field, pointed in layout.fields.items():
        value = values[field]
        if pointed is None:
            packed.append(value)
        elif value is None:
            packed.append(0)
        else:
            _check_items(name, field, value, pointed)
            arrays.append(value)
            packed.append(address(value))
    try:
        memory = layout.packer.pack(*packed)
    except (struct.error, TypeError, OverflowError):
        _explain(name, layout, values)
        raise
    filled = KernelStruct((), layout.dtype, memory)
    filled.arrays = tuple(arrays)
    return filled


@dataclass(frozen=True)
class StructLayout:
    """How a struct lies in memory.

    Attributes
    ----------
    packer : struct.Struct
        In C's layout.
    dtype : dtype
        The same for numpy; pointers are uint64.
    fields : dict
        By name None for a number; for a pointer the dtype that it points to, or "unknown" where a
        macro or a type of the file stands for it.
    """

    packer: struct.Struct
    dtype: np.dtype
    fields: dict[str, np.dtype | str | None]


@functools.cache
def struct_layout(path: str | Path, name: str) -> StructLayout:
    """Layout of a struct of a `.cu` file or of what it includes.

    Raises
    ------
    TypeError
        There is no such struct, or a field is neither a number nor a pointer.
    """
    fields: dict[str, np.dtype | str | None] = {}
    codes = []
    for base, declarators in _declarations(path, name):
        code = _TYPES.get(base)
        for declarator in declarators:
            is_pointer = "*" in declarator
            field = declarator.replace("*", "", 1).strip()
            if not field.isidentifier() or (code is None and not is_pointer):
                raise TypeError(f"{name}: {base}{declarator} is neither a number nor a pointer")
            fields[field] = (np.dtype(code) if code else "unknown") if is_pointer else None
            codes.append(_POINTER if is_pointer else code)
    dtype = np.dtype([(field, code) for field, code in zip(fields, codes)], align=True)
    packer = struct.Struct("".join(["@", *(str(code) for code in codes)]))
    end = (
        f"{dtype.itemsize - packer.size}x"  # C pads a struct to its alignment, this module does not
    )
    return StructLayout(struct.Struct(packer.format + end), dtype, fields)


def _declarations(path: str | Path, name: str) -> list[tuple[str, list[str]]]:
    """Type and declarators of each statement of a struct that declares fields."""
    source = _COMMENT.sub("", read_source(path))
    found = re.search(rf"\bstruct {name}\s*\{{", source)
    if not found:
        raise TypeError(f"{Path(path).name} has no struct {name}")
    statements, depth, text = [], 1, ""
    for character in source[found.end() :]:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth == 0:
            break
        if depth == 1 and character in ";}":
            if character == ";":  # else the end of a function or of a nested struct
                statements.append(" ".join(text.split()))
            text = ""
        elif depth == 1:
            text += character
    parts = [_DECLARATION.fullmatch(line) for line in statements if line and "(" not in line]
    return [(part[1], part[2].split(",")) for part in parts if part]


def _explain(name: str, layout: StructLayout, values: dict[str, Any]) -> None:
    """Raise for the first number that does not fit its field."""
    for field, pointed in layout.fields.items():
        kind = layout.dtype[field]
        if pointed is not None or (kind.kind in "fb" and not np.ndim(values[field])):
            continue
        if np.ndim(values[field]) or not isinstance(values[field], (int, np.integer, np.bool_)):
            wanted = "a number" if np.ndim(values[field]) else "an integer"
            raise TypeError(f"{name}.{field} is {wanted}, not {values[field]!r}")
        if not np.iinfo(kind).min <= values[field] <= np.iinfo(kind).max:
            raise OverflowError(f"{name}.{field}: {values[field]} does not fit {kind.name}")


def _check_items(name: str, field: str, array: Any, pointed: np.dtype | str) -> None:
    if not hasattr(array, "dtype") or not array.ndim:
        raise TypeError(f"{name}.{field} is a pointer: give a device array or None")
    if not array.flags.c_contiguous:
        raise TypeError(f"{name}.{field}: the array is not contiguous")
    if isinstance(pointed, str):
        return
    items = array.dtype
    if items.itemsize != pointed.itemsize or (items.kind == "f") != (pointed.kind == "f"):
        raise TypeError(f"{name}.{field} points to {pointed.name}, not to {items}")
