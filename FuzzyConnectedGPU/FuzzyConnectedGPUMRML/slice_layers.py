"""What the slice views show of a result: the fuzzy scene as a layer, the labelmap, a preview."""

from collections.abc import Sequence
from typing import Any

from FuzzyVesselCoreLib.mrml.ownership import SEGMENTATION, belongs_to, is_output
from FuzzyVesselCoreLib.mrml.segment_origin import is_result

HIDDEN = "FuzzyVesselGPU.Hidden"  # attribute of a segmentation, while another volume is drawn
LABEL_OPACITY, MASK_OPACITY = 0.5, 0.3  # the image shows through


def composites() -> list[Any]:
    """The composite nodes of all slice views."""
    import slicer

    return list(slicer.util.getNodesByClass("vtkMRMLSliceCompositeNode"))


def shown_volume() -> Any:
    """The volume that most slice views show as their background, or None."""
    import slicer

    ids = [each.GetBackgroundVolumeID() for each in composites() if each.GetBackgroundVolumeID()]
    if not ids:
        return None
    return slicer.mrmlScene.GetNodeByID(max(ids, key=ids.count))


def uncover(volume_node: Any, mask_node: Any) -> None:
    """Let the image be seen where a mask covers it in the slice views."""
    for composite in composites():
        if composite.GetLabelVolumeID() == mask_node.GetID():
            composite.SetLabelOpacity(min(composite.GetLabelOpacity(), MASK_OPACITY))
        if volume_node is not None and composite.GetBackgroundVolumeID() == mask_node.GetID():
            composite.SetBackgroundVolumeID(volume_node.GetID())


def show_volume(volume_node: Any, everywhere: bool = False) -> None:
    """Show a volume in the slice views that show none.

    Parameters
    ----------
    volume_node : vtkMRMLVolumeNode
    everywhere : bool
        Also where another volume is shown, unless this one is the foreground there.
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

    Parameters
    ----------
    scene_node : vtkMRMLScalarVolumeNode
    opacity : float
        0..1.
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


class ThresholdPreview:
    """Shows what a threshold would take, in all slices, at the price of drawing them.

    The scene's own display does the work: it is shown from the threshold on, and labels of the
    old threshold are hidden meanwhile. Nothing is computed, so it follows a slider in a volume of
    any size. `end` puts every view and the display back.

    Parameters
    ----------
    scene_node : vtkMRMLScalarVolumeNode
    hidden_nodes : sequence of vtkMRMLSegmentationNode
        Their slice outlines are hidden meanwhile.
    """

    OPACITY = 0.6

    def __init__(self, scene_node: Any, hidden_nodes: Sequence[Any] = ()) -> None:
        self._display = scene_node.GetDisplayNode()
        self._was = (self._display.GetLowerThreshold(), self._display.GetUpperThreshold())
        self._layers = [_layers(composite) for composite in composites()]
        self._hidden = [
            (display, display.GetVisibility2D())
            for display in (node.GetDisplayNode() for node in hidden_nodes if node)
            if display is not None
        ]
        for display, _shown in self._hidden:
            display.SetVisibility2D(False)
        show_scene(scene_node, self.OPACITY)
        for composite in composites():
            composite.SetLabelOpacity(0.0)

    def show(self, threshold: float) -> None:
        """Show what is connected with at least the threshold."""
        self._display.SetThreshold(threshold, max(1.0, self._was[1]))

    def end(self) -> None:
        """Show what was shown before."""
        self._display.SetThreshold(*self._was)
        for composite, foreground, foreground_opacity, label_opacity in self._layers:
            composite.SetForegroundVolumeID(foreground)
            composite.SetForegroundOpacity(foreground_opacity)
            composite.SetLabelOpacity(label_opacity)
        for display, shown in self._hidden:
            display.SetVisibility2D(shown)


def _layers(composite: Any) -> tuple[Any, str, float, float]:
    return (
        composite,
        composite.GetForegroundVolumeID(),
        composite.GetForegroundOpacity(),
        composite.GetLabelOpacity(),
    )


def jump_to(world: Sequence[float]) -> None:
    """Move all slices to a point of the world, which then lies in their middle."""
    import slicer

    slicer.vtkMRMLSliceNode.JumpAllSlices(
        slicer.mrmlScene, *world, slicer.vtkMRMLSliceNode.CenteredJumpSlice
    )
