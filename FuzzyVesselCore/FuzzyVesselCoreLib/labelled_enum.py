"""Choices of a parameter node that combo boxes show by translated labels."""

import enum
from typing import Any


class LabelledEnum(enum.Enum):
    """An enumeration whose members have a value and a label; scenes keep the members' names.

    Examples
    --------
    >>> class Device(LabelledEnum):
    ...     CPU = "cpu", "Processor"
    >>> Device("cpu").label()
    'Processor'
    """

    _label: str

    def __new__(cls, value: Any, label: str) -> "LabelledEnum":
        self = object.__new__(cls)
        self._value_, self._label = value, label
        return self

    def label(self) -> str:
        """Return the member's label; Slicer's parameter-node wrapper asks for it."""
        return self._label
