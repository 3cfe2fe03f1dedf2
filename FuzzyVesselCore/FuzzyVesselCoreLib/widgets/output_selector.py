"""A selector of a node to write into: only a person's act changes what is chosen."""

from collections.abc import Callable, Iterable
from typing import Any

import slicer
import vtk
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from ..errors import InputError
from ..mrml.ownership import belongs_to, check_apart, claim, is_output, output_of, sources_of


class OutputSelector:
    """Shows an output among the parameters, and asks before another node becomes it.

    It is not bound to the parameter: qMRMLNodeComboBox also chooses by itself, when a node is
    removed or hidden. It tells by `nodeActivated` and `nodeAddedByUser` what a person chose.

    The panel has ``output_source(parameters)``, the node whose results are written, and
    ``output_inputs(parameters)``, a dict of words to nodes that are no outputs. The selector has
    one class of nodes, and "none" enabled. The question, with {name} and {source}, is asked before
    a node is written into that was not made for it.
    """

    def __init__(self, panel: Any, selector: Any, name: str, kind: str, question: str) -> None:
        self._panel, self._selector = panel, selector
        self._name, self._kind, self._question = name, kind, question
        selector.connect("nodeActivated(vtkMRMLNode*)", self.choose)
        selector.connect("nodeAddedByUser(vtkMRMLNode*)", self._take_new)

    def show(self, parameters: Any) -> None:
        """Show what is chosen."""
        node = getattr(parameters, self._name)
        if self._selector.currentNode() is not node:
            self._selector.setCurrentNode(node)

    def follow(self, parameters: Any, source: Any, changed: bool) -> None:
        """Leave the outputs of others; of a `changed` source its earlier output is chosen again."""
        node = getattr(parameters, self._name)
        if belongs_to(node, self._kind, source) or (node is None and not changed):
            return
        found = output_of(source, self._kind, self._selector.nodeTypes[0]) if changed else None
        if found is not node:
            setattr(parameters, self._name, found)

    def choose(self, node: Any) -> None:
        """Take the node that a person chose, None for a new one, where that may be written."""
        parameters = self._panel.parameters
        if parameters is None or node is getattr(parameters, self._name):
            return
        if node is None or self._agreed(parameters, node):
            setattr(parameters, self._name, node)
        self.show(parameters)

    def _take_new(self, node: Any) -> None:
        parameters = self._panel.parameters
        source = self._panel.output_source(parameters) if parameters is not None else None
        if source is not None:
            claim(node, self._kind, source)
            setattr(parameters, self._name, node)

    def _agreed(self, parameters: Any, node: Any) -> bool:
        """Whether a node may be written into, after asking where it was not made for this."""
        source = self._panel.output_source(parameters)
        if source is None:
            self._panel.say(_("Choose the volume first."))
            return False
        if belongs_to(node, self._kind, source):
            return True
        try:
            check_apart([node], self._panel.output_inputs(parameters))
        except InputError as error:
            self._panel.say(self._panel.worded(error))
            return False
        question = self._question.format(name=node.GetName(), source=source.GetName())
        if is_output(node, self._kind):
            others = ", ".join(each.GetName() for each in sources_of(node))
            question += " " + _("It holds the result of {others}.").format(others=others)
        if not slicer.util.confirmYesNoDisplay(question, windowTitle=self._panel.title()):
            return False
        claim(node, self._kind, source)
        return True


# ---- Notices when a node that a result depends on is edited in another module


class EditObserver:
    """Calls ``edited(caller, event)`` after each edit of volumes, segmentations or regions."""

    def __init__(self, edited: Callable[..., None]) -> None:
        self._edited = edited
        self._observers = VTKObservationMixin()
        self._sources: list[tuple[Any, Any]] = []

    def follow(self, nodes: Iterable[Any]) -> None:
        """Observe these nodes and no others; None among them is skipped."""
        sources = list(dict.fromkeys(_source(node) for node in nodes if node is not None))
        if sources == self._sources:
            return
        self._observers.removeObservers()
        self._sources = sources
        for source, event in sources:
            self._observers.addObserver(source, event, self._edited)


def _source(node: Any) -> tuple[Any, Any]:
    """What is observed of a node, and the event that tells of an edit."""
    if node.IsA("vtkMRMLVolumeNode"):
        return node, slicer.vtkMRMLVolumeNode.ImageDataModifiedEvent
    if node.IsA("vtkMRMLSegmentationNode"):
        return node.GetSegmentation(), slicer.vtkSegmentation.SourceRepresentationModified
    return node, vtk.vtkCommand.ModifiedEvent
