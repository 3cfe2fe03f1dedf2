"""Notices when a node that a result depends on is edited in another module."""

from collections.abc import Callable, Iterable
from typing import Any

import slicer
import vtk
from slicer.util import VTKObservationMixin


class EditObserver:
    """Calls ``edited()`` after each edit of volumes, segmentations or regions of interest."""

    def __init__(self, edited: Callable[[], None]) -> None:
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
            self._observers.addObserver(source, event, lambda caller, event: self._edited())

    def forget(self) -> None:
        """The nodes are gone."""
        self.follow(())


def _source(node: Any) -> tuple[Any, Any]:
    """What is observed of a node, and the event that tells of an edit."""
    if node.IsA("vtkMRMLVolumeNode"):
        return node, slicer.vtkMRMLVolumeNode.ImageDataModifiedEvent
    if node.IsA("vtkMRMLSegmentationNode"):
        return node.GetSegmentation(), slicer.vtkSegmentation.SourceRepresentationModified
    return node, vtk.vtkCommand.ModifiedEvent
