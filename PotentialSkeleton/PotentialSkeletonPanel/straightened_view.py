"""A straightened volume in one slice view, turned about the vessel, and the way to the patient."""

from typing import Any

import numpy as np
import slicer
from slicer.i18n import tr as _

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.reading import matrix_from_array
from PotentialSkeletonMRML.straightening import is_straightened, patient_position

LAYOUT_NAME = "Green"  # coronal in Slicer's own layouts
MARGIN = 1.05


def background_volume() -> Any:
    """The patient's volume that most slice views show, or None."""
    composites = slicer.util.getNodesByClass("vtkMRMLSliceCompositeNode")
    shown = [slicer.mrmlScene.GetNodeByID(c.GetBackgroundVolumeID() or "") for c in composites]
    shown = [node for node in shown if node is not None and not is_straightened(node)]
    return max(shown, key=shown.count, default=None)


class StraightenedView:
    """Shows a straightened volume in the view `LAYOUT_NAME`, or in the last one without it."""

    def __init__(self) -> None:
        self._nodes: Any = None
        self._composite: Any = None
        self._before: tuple = ()

    @property
    def volume(self) -> Any:
        """The volume that is shown; None where there is none, or it left the scene."""
        node = None if self._nodes is None else self._nodes.volumeNode
        return node if node is not None and slicer.mrmlScene.IsNodePresent(node) else None

    @property
    def layout_name(self) -> str:
        """Of the view."""
        return "" if self._composite is None else self._composite.GetLayoutName()

    def show(self, nodes: Any) -> None:
        """Show nodes of `straightening.straighten`, whole."""
        self.hide()
        composites = slicer.util.getNodesByClass("vtkMRMLSliceCompositeNode")
        named = [each for each in composites if each.GetLayoutName() == LAYOUT_NAME]
        if not composites:
            raise InputError(_("There is no slice view that could show it."))
        self._nodes, self._composite = nodes, (named or list(composites))[-1]
        view, matrix = self._view(), np.eye(4)
        for row in range(4):
            matrix[row] = [view.GetSliceToRAS().GetElement(row, column) for column in range(4)]
        layers = self._composite.GetBackgroundVolumeID(), self._composite.GetLabelVolumeID()
        outline = view.GetUseLabelOutline()
        self._before = *layers, outline, matrix, view.GetFieldOfView()
        self._composite.SetBackgroundVolumeID(nodes.volumeNode.GetID())
        self._composite.SetLabelVolumeID(nodes.labelmapNode.GetID())
        view.SetUseLabelOutline(True)
        self.turn(0)
        width, height, depth = view.GetFieldOfView()
        sides = np.ptp(self._bounds(), axis=1)
        tall = MARGIN * max(sides[2], sides[0] * height / width)
        view.SetFieldOfView(width * tall / height, tall, depth)

    def hide(self) -> None:
        """Show in the view what it has shown before; the volumes stay in the scene."""
        if self._nodes is None:
            return
        self._nodes = None
        background, label, outline, matrix, size = self._before
        for each, put in (
            (background, self._composite.SetBackgroundVolumeID),
            (label, self._composite.SetLabelVolumeID),
        ):
            put(each if each and slicer.mrmlScene.GetNodeByID(each) else None)
        self._place(matrix)
        view = self._view()
        if view is not None:
            view.SetFieldOfView(*size)
            view.SetUseLabelOutline(outline)

    def turn(self, degrees: float) -> None:
        """Turn the view about the vessel."""
        if self.volume is None:
            return
        angle, matrix = np.radians(degrees), np.eye(4)
        across, up = np.array([-np.cos(angle), -np.sin(angle), 0.0]), np.array([0.0, 0.0, 1.0])
        matrix[:3, :3] = np.stack([across, up, np.cross(across, up)], axis=1)
        matrix[:3, 3] = self._bounds().mean(axis=1)
        self._place(matrix)

    def go_to_patient(self, position: Any) -> None:
        """Centre the other slices on a place of the straightened volume (R, A, S).

        `InputError` where the place lies beside it.
        """
        low, high = self._bounds().T
        if ((position < low) | (position > high)).any():
            raise InputError(_("This is not in the straightened view."))
        there = patient_position(self.volume, position)
        for view in slicer.util.getNodesByClass("vtkMRMLSliceNode"):
            if view.GetLayoutName() != self.layout_name:
                view.JumpSliceByCentering(*there)

    def _bounds(self) -> np.ndarray:
        bounds = [0.0] * 6
        self.volume.GetRASBounds(bounds)
        return np.reshape(bounds, (3, 2))

    def _view(self) -> Any:
        views = slicer.util.getNodesByClass("vtkMRMLSliceNode")
        return next((v for v in views if v.GetLayoutName() == self.layout_name), None)

    def _place(self, matrix: np.ndarray) -> None:
        view = self._view()
        if view is not None:
            view.GetSliceToRAS().DeepCopy(matrix_from_array(matrix))
            view.UpdateMatrices()
