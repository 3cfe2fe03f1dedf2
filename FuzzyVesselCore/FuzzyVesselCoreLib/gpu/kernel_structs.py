"""Structs that kernels take by value, filled by the names of their fields.

Fields, their order and their types are read from the struct's declaration in the `.cu` or `.cuh`
file, the only place where they stand. A wrong name or type is an error before the launch.
"""

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .nvrtc import read_source

_TYPES = {
    "bool": "?",
    "char": "i1",
    "unsigned char": "u1",
    "u8": "u1",
    "short": "i2",
    "unsigned short": "u2",
    "u16": "u2",
    "int": "i4",
    "unsigned": "u4",
    "unsigned int": "u4",
    "u32": "u4",
    "long long": "i8",
    "unsigned long long": "u8",
    "u64": "u8",
    "float": "f4",
    "double": "f8",
}
_POINTER = np.dtype(np.uint64)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|^#[^\n]*", re.DOTALL | re.MULTILINE)
_BUILT_IN = r"(?:unsigned|long|short|char|int|float|double)"
_DECLARATION = re.compile(rf"(?:const )?({_BUILT_IN}(?: {_BUILT_IN})*|\w+)\b(.*)")


class KernelStruct(np.ndarray):
    """One struct, an array of size 1, which a launch passes by value.

    Attributes
    ----------
    arrays : tuple of device arrays
        What its pointers lead to; they live as long as the struct does.
    """

    arrays: tuple[Any, ...] = ()


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
    layout, pointed = struct_layout(path, name)
    wrong = set(values) ^ set(layout.names or ())
    if wrong:
        raise TypeError(f"{name}: wrong or missing fields: {', '.join(sorted(wrong))}")
    struct = np.zeros((), layout).view(KernelStruct)
    for field, value in values.items():
        if field not in pointed:
            struct[field] = _number(f"{name}.{field}", value, layout[field])
        elif value is not None:
            _check_items(f"{name}.{field}", value, pointed[field])
            struct[field] = address(value)
    struct.arrays = tuple(values[field] for field in pointed if values[field] is not None)
    return struct


@functools.cache
def struct_layout(path: str | Path, name: str) -> tuple[np.dtype, dict[str, np.dtype | None]]:
    """Fields of a struct as a dtype in C's layout, and what its pointers point to.

    Parameters
    ----------
    path : str or Path
        The `.cu` file.
    name : str

    Returns
    -------
    layout : dtype
        Pointers are uint64.
    pointed : dict
        The dtype by pointer field; None where a macro or a type of the file stands for it.

    Raises
    ------
    TypeError
        There is no such struct, or a field is neither a number nor a pointer.
    """
    fields: list[tuple[str, np.dtype]] = []
    pointed = {}
    for base, declarators in _declarations(path, name):
        known = np.dtype(_TYPES[base]) if base in _TYPES else None
        for declarator in declarators:
            field = declarator.replace("*", "", 1).strip()
            if not field.isidentifier() or (known is None and "*" not in declarator):
                raise TypeError(f"{name}: {base}{declarator} is neither a number nor a pointer")
            if "*" in declarator:
                pointed[field] = known
            fields.append((field, _POINTER if field in pointed else known))  # type: ignore[arg-type]
    return np.dtype(fields, align=True), pointed


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


def _number(field: str, value: Any, dtype: np.dtype) -> Any:
    if np.ndim(value):
        raise TypeError(f"{field} is a number, not an array")
    if dtype.kind in "fb":
        return value
    if not isinstance(value, (int, np.integer, np.bool_)):
        raise TypeError(f"{field} is an integer, not {value!r}")
    limits = np.iinfo(dtype)
    if not limits.min <= value <= limits.max:
        raise OverflowError(f"{field}: {value} does not fit {dtype.name}")
    return value


def _check_items(field: str, array: Any, pointed: np.dtype | None) -> None:
    if not hasattr(array, "dtype") or not np.ndim(array):
        raise TypeError(f"{field} is a pointer: give a device array or None")
    if not array.flags.c_contiguous:
        raise TypeError(f"{field}: the array is not contiguous")
    if pointed is None:
        return
    same_kind = (array.dtype.kind == "f") == (pointed.kind == "f")
    if array.dtype.itemsize != pointed.itemsize or not same_kind:
        raise TypeError(f"{field} points to {pointed.name}, not to {array.dtype}")
