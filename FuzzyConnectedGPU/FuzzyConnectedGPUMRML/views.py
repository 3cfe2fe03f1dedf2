"""What slice and 3D views show: volumes, results, previews; and where they look."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.mrml.images import array_from_image, image_from_array
from FuzzyVesselCoreLib.mrml.ownership import SEGMENTATION, belongs_to, is_output
from FuzzyVesselCoreLib.mrml.points import world_points
from FuzzyVesselCoreLib.mrml.reading import matrix_from_array, voxels_of
from FuzzyVesselCoreLib.mrml.segments import is_result

HIDDEN = "FuzzyVesselGPU.Hidden"  # attribute of a segmentation, while another volume is drawn
LABEL_OPACITY, MASK_OPACITY, PREVIEW_OPACITY = 0.5, 0.3, 0.6  # the image shows through
MARGIN = 1.3  # of the views, in sizes of the result
MIN_SIZE = 80.0  # mm
ZOOMED = 0.9  # of the width that shows the whole volume: below it a person has zoomed

Color = tuple[float, float, float]


def composites() -> list[Any]:
    """The composite nodes of all slice views."""
    import slicer

    return list(slicer.util.getNodesByClass("vtkMRMLSliceCompositeNode"))


def shown_volume() -> Any:
    """The volume that most slice views show as their background, or None."""
    import slicer

    ids = [each.GetBackgroundVolumeID() for each in composites() if each.GetBackgroundVolumeID()]
    return slicer.mrmlScene.GetNodeByID(max(ids, key=ids.count)) if ids else None


def volume_at_mouse() -> Any:
    """The volume of the slice view that the mouse is in; None where it is in none."""
    import slicer

    crosshair = slicer.mrmlScene.GetFirstNodeByClass("vtkMRMLCrosshairNode")
    slice_node = crosshair.GetCursorPositionXYZ([0.0, 0.0, 0.0]) if crosshair is not None else None
    if slice_node is None:
        return None
    for composite in composites():
        if composite.GetLayoutName() == slice_node.GetLayoutName():
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
    import slicer

    for node in slicer.util.getNodesByClass("vtkMRMLSegmentationNode"):
        display, inner = node.GetDisplayNode(), node.GetSegmentation()
        segments = [inner.GetSegment(each) for each in inner.GetSegmentIDs()]
        if display is None or not is_output(node, SEGMENTATION):
            continue
        if belongs_to(node, SEGMENTATION, volume_node):
            if node.GetAttribute(HIDDEN):
                display.SetVisibility(True)
                node.RemoveAttribute(HIDDEN)
        elif display.GetVisibility() and all(map(is_result, segments)):
            display.SetVisibility(False)
            node.SetAttribute(HIDDEN, "yes")


def show_scene(scene_node: Any, opacity: float) -> None:
    """Show a fuzzy scene over the image in all slice views, or take it away with opacity 0.

    A foreground that the user chose is not taken away.
    """
    for composite in composites():
        if opacity > 0:
            composite.SetForegroundVolumeID(scene_node.GetID())
            composite.SetForegroundOpacity(opacity)
        elif composite.GetForegroundVolumeID() == scene_node.GetID():
            composite.SetForegroundVolumeID(None)


def show_labelmap(labelmap_node: Any, opacity: float = LABEL_OPACITY) -> None:
    """Show a labelmap in all slice views."""
    for composite in composites():
        composite.SetLabelVolumeID(labelmap_node.GetID())
        composite.SetLabelOpacity(opacity)


def hide_labelmap(labelmap_node: Any) -> None:
    """Take a labelmap away from the slice views; another one that the user shows stays."""
    for composite in composites():
        if composite.GetLabelVolumeID() == labelmap_node.GetID():
            composite.SetLabelVolumeID(None)


class _Before:
    """What the slice views showed before a preview; segmentations are hidden in them meanwhile."""

    def __init__(self, hidden_nodes: Sequence[Any]) -> None:
        self._layers = [
            (
                each,
                each.GetForegroundVolumeID(),
                each.GetForegroundOpacity(),
                each.GetLabelVolumeID(),
                each.GetLabelOpacity(),
            )
            for each in composites()
        ]
        displays = [node.GetDisplayNode() for node in hidden_nodes if node is not None]
        self._hidden = [(each, each.GetVisibility2D()) for each in displays if each is not None]
        for display, _shown in self._hidden:
            display.SetVisibility2D(False)

    def restore(self) -> None:
        for composite, foreground, foreground_opacity, label, label_opacity in self._layers:
            composite.SetForegroundVolumeID(foreground)
            composite.SetForegroundOpacity(foreground_opacity)
            composite.SetLabelVolumeID(label)
            composite.SetLabelOpacity(label_opacity)
        for display, shown in self._hidden:
            display.SetVisibility2D(shown)


class ThresholdPreview:
    """Shows what a threshold would take, in all slices, at the price of drawing them.

    The scene's own display does the work: it is shown from the threshold on, and labels of the
    old threshold are hidden meanwhile. Nothing is computed, so it follows a slider in a volume of
    any size. `end` puts every view and the display back.

    Parameters
    ----------
    scene_node : vtkMRMLScalarVolumeNode
    hidden_nodes : sequence of vtkMRMLSegmentationNode
    """

    def __init__(self, scene_node: Any, hidden_nodes: Sequence[Any] = ()) -> None:
        self._display, self._before = scene_node.GetDisplayNode(), _Before(hidden_nodes)
        self._was = (self._display.GetLowerThreshold(), self._display.GetUpperThreshold())
        show_scene(scene_node, PREVIEW_OPACITY)
        for composite in composites():
            composite.SetLabelOpacity(0.0)

    def show(self, threshold: float) -> None:
        """Show what is connected with at least the threshold."""
        self._display.SetThreshold(threshold, max(1.0, self._was[1]))

    def end(self) -> None:
        """Show what was shown before."""
        self._display.SetThreshold(*self._was)
        self._before.restore()


class LabelPreview:
    """Shows labels in all slices, in a labelmap volume that is neither listed nor saved."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._node: Any = None
        self._before: _Before | None = None

    @property
    def shown(self) -> bool:
        """Whether it is shown just now."""
        import slicer

        return self._node is not None and bool(slicer.mrmlScene.IsNodePresent(self._node))

    def show(
        self,
        labels: np.ndarray,
        ijk_to_frame: np.ndarray,
        transform_id: str | None,
        colors: Sequence[Color],
        hidden_nodes: Sequence[Any] = (),
    ) -> None:
        """Show labels (K, J, I; uint8; 1 for the first vessel) in the place of earlier ones.

        `ijk_to_frame` (4, 4) leads to mm below the transform; the segmentations in `hidden_nodes`
        are hidden in the slices meanwhile.
        """
        if not self.shown:
            self._before = _Before(hidden_nodes)
            self._node = _hidden_node("vtkMRMLLabelMapVolumeNode", self._title)
            self._node.CreateDefaultDisplayNodes()
            display, table = self._node.GetDisplayNode(), self._table()
            display.SaveWithSceneOff()
            display.SetAndObserveColorNodeID(table.GetID())
        self._paint(colors)
        self._node.SetAndObserveTransformNodeID(transform_id)
        self._node.SetIJKToRASMatrix(matrix_from_array(ijk_to_frame))
        self._node.SetAndObserveImageData(image_from_array(labels))
        show_labelmap(self._node, PREVIEW_OPACITY)

    @property
    def labels(self) -> np.ndarray | None:
        """What is shown, (K, J, I); None where nothing is."""
        return array_from_image(self._node.GetImageData()) if self.shown else None

    def drop(self) -> None:
        """Show what was shown before."""
        import slicer

        from FuzzyVesselCoreLib.mrml.changes import remove_node

        if self.shown:
            table = self._node.GetDisplayNode().GetColorNode()
            hide_labelmap(self._node)
            remove_node(self._node)
            slicer.mrmlScene.RemoveNode(table)
        if self._before is not None:
            self._before.restore()
        self._node = self._before = None

    def _table(self) -> Any:
        table = _hidden_node("vtkMRMLColorTableNode", f"{self._title} colours")
        table.SetTypeToUser()
        table.SetNumberOfColors(256)
        table.SetColor(0, "", 0.0, 0.0, 0.0, 0.0)
        return table

    def _paint(self, colors: Sequence[Color]) -> None:
        table = self._node.GetDisplayNode().GetColorNode()
        for label, color in enumerate(colors, 1):
            table.SetColor(label, self._title, *color, 1.0)


def _hidden_node(class_name: str, title: str) -> Any:
    import slicer

    node = slicer.mrmlScene.CreateNodeByClass(class_name)
    node.UnRegister(None)
    node.SetName(slicer.mrmlScene.GenerateUniqueName(title))
    node.SaveWithSceneOff()
    node.HideFromEditorsOn()
    return slicer.mrmlScene.AddNode(node)


# --- where views look


def jump_to(world: Sequence[float]) -> None:
    """Move all slices to a point of the world, which then lies in their middle."""
    import slicer

    slicer.vtkMRMLSliceNode.JumpAllSlices(
        slicer.mrmlScene, *world, slicer.vtkMRMLSliceNode.CenteredJumpSlice
    )


def result_bounds(labelmap_node: Any) -> np.ndarray | None:
    """Bounds of a labelmap's voxels: ndarray (2, 3), mm in the world; None where all are 0."""
    labels = voxels_of(labelmap_node, copy=False)
    ranges = []
    for axis in range(3):
        used = np.flatnonzero(labels.any(axis=tuple(a for a in range(3) if a != axis)))
        if not used.size:
            return None
        ranges.append((used[0], used[-1]))
    corners = np.array(np.meshgrid(*ranges, indexing="ij")).reshape(3, -1).T
    points = np.array(world_points(corners, labelmap_node))
    return np.array([points.min(axis=0), points.max(axis=0)])


def fit_slices(labelmap_node: Any, point: Sequence[float]) -> None:
    """Show the whole result in the slices, through a point (world); zoomed ones stay so."""
    import slicer

    bounds, whole = result_bounds(labelmap_node), [0.0] * 6
    labelmap_node.GetRASBounds(whole)
    if bounds is None:
        return
    center, size = bounds.mean(axis=0), np.maximum(np.ptp(bounds, axis=0), MIN_SIZE)
    for slice_node in slicer.util.getNodesByClass("vtkMRMLSliceNode"):
        shown = slice_node.GetFieldOfView()[0]
        if shown > ZOOMED * _width(slice_node, np.subtract(whole[1::2], whole[::2])):
            _fit_slice(slice_node, center, size)
            slice_node.JumpSliceByOffsetting(*point)


def fit_cameras(labelmap_node: Any) -> None:
    """Show the whole result in the middle of all 3D views."""
    import slicer

    bounds = result_bounds(labelmap_node)
    if bounds is not None:
        radius = float(np.linalg.norm(np.maximum(np.ptp(bounds, axis=0), MIN_SIZE))) / 2
        for camera_node in slicer.util.getNodesByClass("vtkMRMLCameraNode"):
            _fit_camera(camera_node, bounds.mean(axis=0), radius)


def _width(slice_node: Any, size: np.ndarray) -> float:
    """The width (mm) of a slice view that shows all of a box of a size (R, A, S)."""
    to_ras = slice_node.GetSliceToRAS()
    across, down = (
        sum(abs(to_ras.GetElement(row, column)) * size[row] for row in range(3))
        for column in range(2)
    )
    width, height, _depth = slice_node.GetFieldOfView()
    return max(across, down * width / height)


def _fit_slice(slice_node: Any, center: np.ndarray, size: np.ndarray) -> None:
    width, height, depth = slice_node.GetFieldOfView()
    wanted = MARGIN * _width(slice_node, size)
    slice_node.SetFieldOfView(wanted, wanted * height / width, depth)
    slice_node.JumpSliceByCentering(*center)


def _fit_camera(camera_node: Any, center: np.ndarray, radius: float) -> None:
    """Look at the result from where the camera looks now."""
    position, focus = np.array(camera_node.GetPosition()), np.array(camera_node.GetFocalPoint())
    away = position - focus
    length = float(np.linalg.norm(away))
    away = away / length if length else np.array([0.0, 1.0, 0.0])
    distance = radius / math.sin(math.radians(camera_node.GetViewAngle() / 2))
    camera_node.SetFocalPoint(*center)
    camera_node.SetPosition(*(center + distance * away))
    camera_node.ResetClippingRange()
