"""Texts in the language of the user interface, for code that is also loaded without Slicer."""

import enum
import sys
from typing import Any


def tr(text: str) -> str:
    """Return a text as it is translated for the caller's file; as it is without Slicer.

    Does what `slicer.i18n.tr` does. That one cannot be imported when a file is loaded, because the
    command line loads files of MRML before there is a module `slicer`; and called from here it
    would take this file for the one that the text stands in. Placeholders in braces are filled in
    afterwards.
    """
    try:
        from slicer.i18n import getContext, translate
    except ImportError:
        return text
    return translate(getContext(sys._getframe(1).f_code.co_filename), text)


class LabelledEnum(enum.Enum):
    """An enumeration whose members have a value and a label; scenes keep the members' names."""

    _label: str

    def __new__(cls, value: Any, label: str) -> "LabelledEnum":
        self = object.__new__(cls)
        self._value_, self._label = value, label
        return self

    def label(self) -> str:
        """Return the member's label; Slicer's parameter-node wrapper asks for it."""
        return self._label


def counted(number: int, noun: str, nouns: str = "") -> str:
    """A number and its noun: 1 loop, 2 loops; where that is no plural, with the plural given."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"
