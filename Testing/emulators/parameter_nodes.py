"""Stand-in for Slicer's `slicer.parameterNodeWrapper`: typed parameters without a user interface.

A decorated class wraps a vtkMRMLScriptedModuleNode; its fields are stored there under the same
names as by Slicer: nodes as references, everything else as text.
"""

import enum
import types
import typing
from dataclasses import dataclass
from typing import Any

import slicer

__all__ = ["Choice", "WithinRange", "parameterNodeWrapper"]


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


class _Field:
    """A property that reads and writes one parameter of `self.parameterNode`.

    A value of one of several types is stored under the parameter's name and the number of its type:
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
        if default is None:
            kind = None if union or _is_node(self.type) else self.type
            default = next(iter(kind)) if _is_enum(kind) else kind and kind()
        self.default = default

    def __get__(self, wrapper, _owner=None):
        if wrapper is None:
            return self
        node = wrapper.parameterNode
        for place, kind in self.places.items():
            if node.HasParameter(place):
                if kind is types.NoneType:
                    return None
                if _is_node(kind):
                    return node.GetNodeReference(place)
                text = node.GetParameter(place)
                if _is_enum(kind):
                    return kind[text]
                return text == "True" if kind is bool else kind(text)
        return self.default  # the scene was closed since

    def __set__(self, wrapper, value):
        fits = [
            (place, kind)
            for place, kind in self.places.items()
            if isinstance(value, kind) or (kind is float and type(value) is int)
        ]
        if not fits:
            raise TypeError(f"{self.name} is a {self.type}, not {value!r}")
        place, kind = fits[0]
        for note in self.checks:
            note.check(value)
        node = wrapper.parameterNode
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


def _is_node(kind):
    return issubclass(kind, slicer.vtkMRMLNode)


def _is_enum(kind):
    return isinstance(kind, enum.EnumMeta)


def parameterNodeWrapper(decorated: Any) -> Any:
    """Make a class with annotated fields a wrapper of a parameter node."""
    fields = {
        name: _Field(name, hint, getattr(decorated, name, None))
        for name, hint in typing.get_type_hints(decorated, include_extras=True).items()
    }

    def __init__(self, parameterNode):
        self.parameterNode = parameterNode
        for name, field in fields.items():
            if not any(parameterNode.HasParameter(place) for place in field.places):
                setattr(self, name, field.default)

    decorated.__init__ = __init__
    for name, field in fields.items():
        setattr(decorated, name, field)
    decorated.allParameters = fields
    for name in ("AddObserver", "RemoveObserver", "Modified"):
        setattr(decorated, name, _passed_on(name))
    return decorated


def _passed_on(name):
    return lambda self, *arguments: getattr(self.parameterNode, name)(*arguments)
