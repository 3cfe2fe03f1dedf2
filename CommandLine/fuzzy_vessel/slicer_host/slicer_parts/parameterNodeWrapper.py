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

    Attributes
    ----------
    type : type or union of types
    checks : list of WithinRange and Choice
    """

    def __init__(self, name, hint, default):
        self.name = name
        annotated = typing.get_origin(hint) is typing.Annotated
        self.type, *notes = typing.get_args(hint) if annotated else (hint,)
        self.checks = [note for note in notes if hasattr(note, "check")]
        defaults = [note.value for note in notes if isinstance(note, Default)]
        self.stored = _stored_as(self.type)
        self.default = default if default is not None else (defaults or [self.stored.neutral()])[0]

    def __get__(self, wrapper, _owner=None):
        if wrapper is None:
            return self
        if not self.is_in(wrapper.parameterNode):  # the scene was closed since
            return self.default
        return self.stored.read(wrapper.parameterNode, self.name)

    def __set__(self, wrapper, value):
        if not self.stored.takes(value):
            raise TypeError(f"{self.name} is a {self.type}, not {value!r}")
        for note in self.checks:
            note.check(value)
        with slicer.util.NodeModify(wrapper.parameterNode):
            self.stored.write(wrapper.parameterNode, self.name, value)

    def is_in(self, node):
        return self.stored.is_in(node, self.name)


def _stored_as(kind: Any) -> Any:
    """How values of a type are kept in the parameter node."""
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        return _Union(kind)
    if kind is types.NoneType:
        return _Nothing()
    if isinstance(kind, type) and issubclass(kind, slicer.vtkMRMLNode):
        return _Node(kind)
    return _Text(kind)


class _Text:
    """A number, text, truth value or member of an enumeration, as text."""

    def __init__(self, kind):
        self.kind, self.is_enumeration = kind, issubclass(kind, enum.Enum)

    def neutral(self):
        return next(iter(self.kind)) if self.is_enumeration else self.kind()

    def takes(self, value):
        return isinstance(value, self.kind) or (self.kind is float and type(value) is int)

    def is_in(self, node, name):
        return node.HasParameter(name)

    def read(self, node, name):
        text = node.GetParameter(name)
        if self.is_enumeration:
            return self.kind[text]
        return text == "True" if self.kind is bool else self.kind(text)

    def write(self, node, name, value):
        node.SetParameter(name, value.name if self.is_enumeration else str(value))

    def remove(self, node, name):
        node.UnsetParameter(name)


class _Node:
    """A reference to a node, and an empty text under the same name that tells it was written."""

    def __init__(self, kind):
        self.kind = kind

    def neutral(self):
        return None

    def takes(self, value):
        return isinstance(value, self.kind)

    def is_in(self, node, name):
        return node.HasParameter(name)

    def read(self, node, name):
        return node.GetNodeReference(name)

    def write(self, node, name, value):
        node.SetParameter(name, "")
        node.SetNodeReferenceID(name, value.GetID())

    def remove(self, node, name):
        node.UnsetParameter(name)
        node.RemoveNodeReferenceIDs(name)


class _Nothing:
    """None in a union."""

    def takes(self, value):
        return value is None

    def is_in(self, node, name):
        return node.HasParameter(name)

    def read(self, node, name):
        return None

    def write(self, node, name, value):
        node.SetParameter(name, "True")

    def remove(self, node, name):
        node.UnsetParameter(name)


class _Union:
    """A value of one of several types, under the parameter's name and the number of its type.

    With ``mask: vtkMRMLScalarVolumeNode | vtkMRMLSegmentationNode | None`` a segmentation is kept
    as "mask.1", None as "mask.2".
    """

    def __init__(self, kind):
        self.types = [_stored_as(each) for each in typing.get_args(kind)]

    def _numbered(self, name):
        return [(stored, f"{name}.{number}") for number, stored in enumerate(self.types)]

    def neutral(self):
        return None

    def takes(self, value):
        return any(stored.takes(value) for stored in self.types)

    def is_in(self, node, name):
        return any(stored.is_in(node, each) for stored, each in self._numbered(name))

    def read(self, node, name):
        kept = (pair for pair in self._numbered(name) if pair[0].is_in(node, pair[1]))
        stored, each = next(kept)
        return stored.read(node, each)

    def write(self, node, name, value):
        self.remove(node, name)
        stored, each = next(pair for pair in self._numbered(name) if pair[0].takes(value))
        stored.write(node, each, value)

    def remove(self, node, name):
        for stored, each in self._numbered(name):
            stored.remove(node, each)


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
