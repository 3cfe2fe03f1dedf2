"""A CLI module's parameters, as XML and as an argument parser.

The elements are those of ModuleDescription.xsd of the Slicer Execution Model, in its order.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

HOMEPAGE = "https://github.com/FuzzyVesselGPU/SlicerFuzzyVesselGPU"
HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'


@dataclass(frozen=True)
class Parameter:
    """One parameter.

    Attributes
    ----------
    tag : str
        Of the schema: "image", "point", "integer", "string-enumeration", ...
    name : str
        Without blanks; the attribute of the parsed arguments.
    label, text : str
        What the panel shows, and its tooltip.
    flag : str
        Long flag, without hyphens; empty for a positional argument.
    channel : str
        "input" or "output", of files.
    default : object
    choices : tuple of str
        Of an enumeration.
    limits : tuple of float
        Smallest, largest and step of a number.
    attributes : tuple of (str, str)
        Of the element: type, multiple, coordinateSystem, fileExtensions.
    parse : callable
        From a text to the value.
    """

    tag: str
    name: str
    label: str
    text: str
    flag: str = ""
    channel: str = ""
    default: Any = None
    choices: tuple[str, ...] = ()
    limits: tuple[float, float, float] | None = None
    attributes: tuple[tuple[str, str], ...] = ()
    parse: Callable[[str], Any] = str

    @property
    def multiple(self) -> bool:
        """Whether the flag may be given several times."""
        return ("multiple", "true") in self.attributes


@dataclass(frozen=True)
class Group:
    """Parameters that the panel shows together."""

    label: str
    text: str
    parameters: tuple[Parameter, ...]
    advanced: bool = False


@dataclass(frozen=True)
class Module:
    """A CLI module: its executable's name, and what Slicer shows."""

    name: str
    title: str
    text: str
    groups: tuple[Group, ...]

    @property
    def parameters(self) -> list[Parameter]:
        """Of all groups."""
        return [each for group in self.groups for each in group.parameters]


def xml_text(module: Module, version: str) -> str:
    """The description that Slicer asks for with ``--xml``."""
    top = ElementTree.Element("executable")
    for tag, text in (
        ("category", "Segmentation"),
        ("title", module.title),
        ("description", module.text),
        ("version", version),
        ("documentation-url", HOMEPAGE),
        ("license", "MIT"),
        ("contributor", "The FuzzyVesselGPU developers"),
    ):
        ElementTree.SubElement(top, tag).text = text
    positions = [each.name for each in module.parameters if not each.flag]
    for group in module.groups:
        shown = {"advanced": "true"} if group.advanced else {}
        box = ElementTree.SubElement(top, "parameters", shown)
        ElementTree.SubElement(box, "label").text = group.label
        ElementTree.SubElement(box, "description").text = group.text
        for each in group.parameters:
            _add(box, each, positions)
    ElementTree.indent(top)
    return HEAD + ElementTree.tostring(top, encoding="unicode") + "\n"


def _add(box, each, positions):
    element = ElementTree.SubElement(box, each.tag, dict(each.attributes))
    ElementTree.SubElement(element, "name").text = each.name
    if each.flag:
        ElementTree.SubElement(element, "longflag").text = each.flag
    ElementTree.SubElement(element, "description").text = each.text
    ElementTree.SubElement(element, "label").text = each.label
    if each.channel:
        ElementTree.SubElement(element, "channel").text = each.channel
    if not each.flag:
        ElementTree.SubElement(element, "index").text = str(positions.index(each.name))
    if each.default is not None:
        ElementTree.SubElement(element, "default").text = str(each.default)
    for choice in each.choices:
        ElementTree.SubElement(element, "element").text = choice
    if each.limits:
        inside = ElementTree.SubElement(element, "constraints")
        for tag, number in zip(("minimum", "maximum", "step"), each.limits):
            ElementTree.SubElement(inside, tag).text = f"{number:g}"


def make_parser(module: Module) -> argparse.ArgumentParser:
    """The parser of what Slicer puts on the command line."""
    parser = argparse.ArgumentParser(prog=module.name, description=module.text)
    parser.add_argument("--xml", action="store_true", help="print the description and exit")
    for each in module.parameters:
        options: dict[str, Any] = {"help": each.text, "type": each.parse}
        if each.choices:
            options["choices"] = each.choices
        if not each.flag:
            parser.add_argument(each.name, **options)
        elif each.multiple:
            parser.add_argument(f"--{each.flag}", dest=each.name, action="append", **options)
        else:
            parser.add_argument(f"--{each.flag}", dest=each.name, default=each.default, **options)
    return parser
