"""Stand-in for Slicer's `slicer.parameterNodeWrapper`: typed parameters without a user interface.

A decorated class wraps a vtkMRMLScriptedModuleNode; its fields are kept there as Slicer keeps
them: nodes as references, everything else as text.
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
    """A property that reads and writes one parameter of `self.parameterNode`."""

    def __init__(self, name, hint, default):
        self.name = name
        annotated = typing.get_origin(hint) is typing.Annotated
        self.type, *notes = typing.get_args(hint) if annotated else (hint,)
        self.checks = [note for note in notes if hasattr(note, "check")]
        defaults = [note.value for note in notes if isinstance(note, Default)]
        self.optional = typing.get_origin(self.type) in (types.UnionType, typing.Union)
        self.types = typing.get_args(self.type) if self.optional else (self.type,)
        self.is_node = any(_is_node_class(each) for each in self.types)
        self.is_enumeration = isinstance(self.type, type) and issubclass(self.type, enum.Enum)
        self.default = default if default is not None else (defaults or [self._neutral()])[0]

    def _neutral(self):
        if self.is_enumeration:
            return next(iter(self.type))
        return None if self.is_node else self.type()

    def __get__(self, wrapper, _owner=None):
        if wrapper is None:
            return self
        node = wrapper.parameterNode
        if self.is_node:
            return node.GetNodeReference(self.name)
        if not self.is_in(node):  # the scene was closed since
            return self.default
        text = node.GetParameter(self.name)
        if self.is_enumeration:
            return self.type[text]
        return text == "True" if self.type is bool else self.type(text)

    def __set__(self, wrapper, value):
        if not isinstance(value, self.types) and not (self.type is float and type(value) is int):
            raise TypeError(f"{self.name} is a {self.type}, not {value!r}")
        for note in self.checks:
            note.check(value)
        node = wrapper.parameterNode
        if self.is_node:
            node.SetNodeReferenceID(self.name, value.GetID() if value else None)
        else:
            node.SetParameter(
                self.name, value.name if self.is_enumeration else str(self.type(value))
            )

    def is_in(self, node):
        if self.is_node:
            return node.GetNodeReferenceID(self.name) is not None
        return node.GetParameter(self.name) != ""


def _is_node_class(candidate):
    return isinstance(candidate, type) and issubclass(candidate, slicer.vtkMRMLNode)


def parameterNodeWrapper(decorated: Any) -> Any:
    """Make a class with annotated fields a wrapper of a parameter node."""
    fields = {
        name: _Field(name, hint, getattr(decorated, name, None))
        for name, hint in typing.get_type_hints(decorated, include_extras=True).items()
    }

    def __init__(self, parameterNode):
        self.parameterNode = parameterNode
        for name, field in fields.items():
            if not field.is_in(parameterNode) and field.default is not None:
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
