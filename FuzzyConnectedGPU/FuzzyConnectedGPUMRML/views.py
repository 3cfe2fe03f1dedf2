"""What slice and 3D views show: volumes, results, previews; and where they look."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import slicer

from FuzzyVesselCoreLib.mrml import reading, writing
from FuzzyVesselCoreLib.mrml.points import world_points
from FuzzyVesselCoreLib.mrml.segments import is_result
from FuzzyVesselCoreLib.voxels.masks import bounding_box

HIDDEN = "FuzzyVesselGPU.Hidden"  # attribute of a segmentation, while another volume is drawn
LABEL_OPACITY, MASK_OPACITY, PREVIEW_OPACITY = 0.5, 0.3, 0.6  # the image shows through
LAYERS = ("ForegroundVolumeID", "ForegroundOpacity", "LabelVolumeID", "LabelOpacity")
MARGIN = 1.3  # of the views, in sizes of the result
MIN_SIZE = 80.0  # mm
ZOOMED = 0.9  # of the width that shows the whole volume: below it a person has zoomed


def composites() -> list[Any]:
    """The composite nodes of all slice views."""
    return list(slicer.util.getNodesByClass("vtkMRMLSliceCompositeNode"))


def shown_volume() -> Any:
    """The volume that most slice views show as their background, or None."""
    ids = [each.GetBackgroundVolumeID() for each in composites() if each.GetBackgroundVolumeID()]
    return slicer.mrmlScene.GetNodeByID(max(ids, key=ids.count)) if ids else None


def volume_at_mouse() -> Any:
    """The volume of the slice view that the mouse is in; None where it is in none."""
    crosshair = slicer.mrmlScene.GetFirstNodeByClass("vtkMRMLCrosshairNode")
    slice_node = crosshair.GetCursorPositionXYZ([0.0, 0.0, 0.0]) if crosshair is not None else None
    for composite in composites():
        if slice_node and composite.GetLayoutName() == slice_node.GetLayoutName():
            return slicer.mrmlScene.GetNodeByID(composite.GetBackgroundVolumeID() or "")
    return None


def uncover(volume_node: Any, mask_node: Any) -> None:
    """Let the image be seen where a mask covers it in the slice views."""
    for composite in composites():
        if composite.GetLabelVolumeID() == mask_node.GetID():
            composite.SetLabelOpacity(min(composite.GetLabelOpacity(), MASK_OPACITY))
        if volume_node is not None and composite.GetBackgroundVolumeID() == mask_node.GetID():
            composite.SetBackgroundVolumeID(volume_node.GetID())


def show_volume(volume_node: Any, everywhere: bool = False) -> None:
    """Show a volume in the slice views that show none.

    With `everywhere` also where another volume is shown, unless this one is the foreground there.
    """
    for composite in composites():
        shown = composite.GetBackgroundVolumeID()
        if not shown or (everywhere and composite.GetForegroundVolumeID() != volume_node.GetID()):
            composite.SetBackgroundVolumeID(volume_node.GetID())


def show_results_of(volume_node: Any) -> None:
    """Hide the results of other volumes, and show again those of this one that were hidden so.

    Only segmentations count that hold nothing but results.
    """
    for node in slicer.util.getNodesByClass("vtkMRMLSegmentationNode"):
        display, inner = node.GetDisplayNode(), node.GetSegmentation()
        if display is None or not writing.is_output(node, writing.SEGMENTATION):
            continue
        if writing.belongs_to(node, writing.SEGMENTATION, volume_node):
            if node.GetAttribute(HIDDEN):
                display.SetVisibility(True)
                node.RemoveAttribute(HIDDEN)
        elif display.GetVisibility() and all(
            is_result(inner.GetSegment(each)) for each in inner.GetSegmentIDs()
        ):
            display.SetVisibility(False)
            node.SetAttribute(HIDDEN, "yes")


def show_scene(scene_node: Any, opacity: float) -> None:
    """Show a fuzzy scene over the image in all slice views, or take it away with opacity 0."""
    if opacity > 0:
        slicer.util.setSliceViewerLayers(foreground=scene_node, foregroundOpacity=opacity)
        return
    for composite in composites():
        if composite.GetForegroundVolumeID() == scene_node.GetID():  # else the user's own choice
            composite.SetForegroundVolumeID(None)


def hide_labelmap(labelmap_node: Any) -> None:
    """Remove a labelmap from the slice views; any other that the user shows stays."""
    for composite in composites():
        if composite.GetLabelVolumeID() == labelmap_node.GetID():
            composite.SetLabelVolumeID(None)


def _hide_in_slices(segmentation_node: Any) -> Callable[[], None]:
    """Hide a segmentation in the slices; returns what shows there again what is shown now."""
    before = [
        (each, name, getattr(each, f"Get{name}")()) for each in composites() for name in LAYERS
    ]
    display = segmentation_node and segmentation_node.GetDisplayNode()
    if display is not None:
        before.append((display, "Visibility2D", display.GetVisibility2D()))
        display.SetVisibility2D(False)

    def show_again() -> None:
        for node, name, value in before:
            getattr(node, f"Set{name}")(value)

    return show_again


def preview_threshold(scene_node: Any, segmentation_node: Any) -> Callable[[], None]:
    """Show in all slices what the threshold of a fuzzy scene's display takes; returns what ends it.

    Labels and the segmentation are hidden meanwhile. Nothing is computed, so that the slices follow
    a slider in a volume of any size.
    """
    display, show_again = scene_node.GetDisplayNode(), _hide_in_slices(segmentation_node)
    before = display.GetLowerThreshold(), display.GetUpperThreshold()
    show_scene(scene_node, PREVIEW_OPACITY)
    for composite in composites():
        composite.SetLabelOpacity(0.0)

    def end() -> None:
        display.SetThreshold(*before)
        show_again()

    return end


class LabelPreview:
    """Shows labels in all slices, in a labelmap volume that is neither listed nor saved."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._node: Any = None
        self._show_again: Any = None

    def show(
        self,
        labels: np.ndarray,
        ijk_to_frame: np.ndarray,
        transform_id: str | None,
        colors: Sequence[tuple[float, float, float]],
        hidden_node: Any = None,
    ) -> None:
        """Show labels (K, J, I; uint8; 1 for the first vessel) in the place of earlier ones.

        `ijk_to_frame` (4, 4) leads to mm below the transform; the segmentation `hidden_node` is
        hidden in the slices meanwhile.
        """
        if self._node is None:
            self._show_again = _hide_in_slices(hidden_node)
            self._make_node()
        table = self._node.GetDisplayNode().GetColorNode()
        for label, color in enumerate(colors, 1):
            table.SetColor(label, self._title, *color, 1.0)
        self._node.SetAndObserveTransformNodeID(transform_id)
        self._node.SetIJKToRASMatrix(reading.matrix_from_array(ijk_to_frame))
        self._node.SetAndObserveImageData(reading.image_from_array(labels))
        slicer.util.setSliceViewerLayers(label=self._node, labelOpacity=PREVIEW_OPACITY)

    def drop(self) -> None:
        """Show what was shown before."""
        if self._node is not None:
            table = self._node.GetDisplayNode().GetColorNode()
            writing.remove_node(self._node)
            writing.remove_node(table)
            self._show_again()
            self._node = None

    def _make_node(self) -> None:
        self._node, table = slicer.vtkMRMLLabelMapVolumeNode(), slicer.vtkMRMLColorTableNode()
        for node, name in ((self._node, self._title), (table, f"{self._title} colours")):
            node.SetName(slicer.mrmlScene.GenerateUniqueName(name))
            node.SaveWithSceneOff()
            node.HideFromEditorsOn()
            slicer.mrmlScene.AddNode(node)
        table.SetTypeToUser()
        table.SetNumberOfColors(256)
        table.SetColor(0, "", 0.0, 0.0, 0.0, 0.0)
        self._node.CreateDefaultDisplayNodes()
        self._node.GetDisplayNode().SaveWithSceneOff()
        self._node.GetDisplayNode().SetAndObserveColorNodeID(table.GetID())


# --- where views look


def _result_box(labelmap_node: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Centre and size (mm in the world) of a labelmap's voxels; None where all are 0."""
    box = bounding_box(reading.voxels_of(labelmap_node, copy=False))
    if box is None:
        return None
    corners = np.array(list(product(*((side.start, side.stop - 1) for side in box))))
    points = np.array(world_points(corners, labelmap_node))
    low, high = points.min(axis=0), points.max(axis=0)
    return (low + high) / 2, np.maximum(high - low, MIN_SIZE)


def fit_slices(labelmap_node: Any, point: Sequence[float]) -> None:
    """Show the whole result in the slices, through a point (world); zoomed ones stay so."""
    found, whole = _result_box(labelmap_node), [0.0] * 6
    labelmap_node.GetRASBounds(whole)
    if found is None:
        return
    for node in slicer.util.getNodesByClass("vtkMRMLSliceNode"):
        width, height, depth = node.GetFieldOfView()
        if width > ZOOMED * _width(node, np.subtract(whole[1::2], whole[::2])):
            wanted = MARGIN * _width(node, found[1])
            node.SetFieldOfView(wanted, wanted * height / width, depth)
            node.JumpSliceByCentering(*found[0])
            node.JumpSliceByOffsetting(*point)


def _width(slice_node: Any, size: np.ndarray) -> float:
    """The width (mm) of a slice view that shows all of a box of a size (R, A, S)."""
    across, down = size @ np.abs(reading.array_from_matrix(slice_node.GetSliceToRAS())[:3, :2])
    width, height, _depth = slice_node.GetFieldOfView()
    return max(across, down * width / height)


def fit_cameras(labelmap_node: Any) -> None:
    """Show the whole result in the middle of all 3D views, seen from where they look now."""
    found = _result_box(labelmap_node)
    if found is not None:
        writing.centre_cameras(*found)
