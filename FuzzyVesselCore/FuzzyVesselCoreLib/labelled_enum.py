"""Choices of a parameter node that combo boxes show by translated labels."""

import enum


class LabelledEnum(enum.Enum):
    """An enumeration with a label for each member; scenes keep the members' names.

    Examples
    --------
    >>> class Device(LabelledEnum):
    ...     CPU = "cpu"
    ...
    ...     @classmethod
    ...     def labels(cls):
    ...         return {cls.CPU: "Processor"}
    >>> Device.CPU.label()
    'Processor'
    """

    @classmethod
    def labels(cls) -> dict["LabelledEnum", str]:
        """Return the labels, in the language of the application."""
        raise NotImplementedError

    def label(self) -> str:
        """Return the member's label; Slicer's parameter-node wrapper asks for it."""
        return self.labels()[self]
