"""Stand-in for Slicer's `slicer.parameterNodeWrapper`: typed parameters without a user interface.

A decorated class wraps a vtkMRMLScriptedModuleNode; its fields are kept there under the same
names as by Slicer: nodes as references, everything else as text.
"""

import enum
import types
import typing
from dataclasses import dataclass
from typing import Any

import slicer

__all__ = ["Choice", "Default", "WithinRange", "parameterNodeWrapper"]


@dataclass(frozen=True)
class WithinRange:
    """A number from `minimum` to `maximum`."""

    minimum: float
    maximum: float

    def check(self, value: Any) -> None:
        if not self.minimum <= value <= self.maximum:
            raise ValueError(f"{value} is not within {self.minimum}..{self.maximum}")


@dataclass(frozen=True)
class Choice:
    """One of `choices`."""

    choices: list

    def check(self, value: Any) -> None:
        if value not in self.choices:
            raise ValueError(f"{value!r} is none of {self.choices}")


@dataclass(frozen=True)
class Default:
    """The value of a field that has no `= value`."""

    value: object


class _Field:
    """A property that reads and writes one parameter of `self.parameterNode`.

    A value of one of several types is kept under the parameter's name and the number of its type:
    with ``mask: vtkMRMLScalarVolumeNode | vtkMRMLSegmentationNode | None`` a segmentation as
    "mask.1", None as "mask.2".
    """

    def __init__(self, name, hint, default):
        self.name = name
        annotated = typing.get_origin(hint) is typing.Annotated
        self.type, *notes = typing.get_args(hint) if annotated else (hint,)
        self.checks = [note for note in notes if hasattr(note, "check")]
        union = typing.get_origin(self.type) in (types.UnionType, typing.Union)
        kinds = typing.get_args(self.type) if union else (self.type,)
        self.places = {f"{name}.{n}" if union else name: kind for n, kind in enumerate(kinds)}
        defaults = [note.value for note in notes if isinstance(note, Default)]
        if default is None:
            default = defaults[0] if defaults else None if union else _neutral(self.type)
        self.default = default

    def __get__(self, wrapper, _owner=None):
        if wrapper is None:
            return self
        node = wrapper.parameterNode
        for place, kind in self.places.items():
            if node.HasParameter(place):
                return _read(node, place, kind)
        return self.default  # the scene was closed since

    def __set__(self, wrapper, value):
        found = [each for each in self.places.items() if _takes(each[1], value)]
        if not found:
            raise TypeError(f"{self.name} is a {self.type}, not {value!r}")
        for note in self.checks:
            note.check(value)
        node, (place, kind) = wrapper.parameterNode, found[0]
        with slicer.util.NodeModify(node):
            for other in self.places.keys() - {place}:
                node.UnsetParameter(other)
                node.RemoveNodeReferenceIDs(other)
            if _is_node(kind):  # an empty text tells that it was written
                node.SetParameter(place, "")
                node.SetNodeReferenceID(place, value.GetID())
            else:
                value = True if value is None else value
                node.SetParameter(place, value.name if _is_enum(kind) else str(value))

    def is_in(self, node):
        return any(node.HasParameter(place) for place in self.places)


def _is_node(kind):
    return issubclass(kind, slicer.vtkMRMLNode)


def _is_enum(kind):
    return issubclass(kind, enum.Enum)


def _neutral(kind):
    return None if _is_node(kind) else next(iter(kind)) if _is_enum(kind) else kind()


def _takes(kind, value):
    return isinstance(value, kind) or (kind is float and type(value) is int)


def _read(node, place, kind):
    if kind is types.NoneType:
        return None
    if _is_node(kind):
        return node.GetNodeReference(place)
    text = node.GetParameter(place)
    return kind[text] if _is_enum(kind) else text == "True" if kind is bool else kind(text)


def parameterNodeWrapper(decorated: Any) -> Any:
    """Make a class with annotated fields a wrapper of a parameter node."""
    fields = {
        name: _Field(name, hint, getattr(decorated, name, None))
        for name, hint in typing.get_type_hints(decorated, include_extras=True).items()
    }

    def __init__(self, parameterNode):
        self.parameterNode = parameterNode
        for name, field in fields.items():
            if not field.is_in(parameterNode):
                setattr(self, name, field.default)

    decorated.__init__ = __init__
    for name, field in fields.items():
        setattr(decorated, name, field)
    decorated.allParameters = fields
    decorated.AddObserver = lambda self, event, callback, priority=0.0: (
        self.parameterNode.AddObserver(event, callback, priority)
    )
    decorated.RemoveObserver = lambda self, tag: self.parameterNode.RemoveObserver(tag)
    decorated.Modified = lambda self: self.parameterNode.Modified()
    return decorated
