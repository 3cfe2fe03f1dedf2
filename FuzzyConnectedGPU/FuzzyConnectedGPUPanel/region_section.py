"""Section Where to search: the whole volume, a box, or a mask."""

from typing import Any

import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import views
from FuzzyVesselCoreLib.mrml.regions import fit_roi
from FuzzyVesselCoreLib.widgets.edit_observer import EditObserver

# Names of the widgets that a kind of region needs, beside the one that names the kind.
ROWS = {
    "whole": (),
    "roi": ("roiLabel", "roiSelector", "fitRoiButton"),
    "mask": ("maskLabel", "maskSelector"),
}
UNKNOWN = object()  # the mask before the parameters were read


class RegionSection:
    """Where vessels are searched."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._segments: list[tuple[str, str]] = []
        self._choice = SegmentChoice("maskSegmentID", "mask")
        self._mask: Any = UNKNOWN
        self._edits = EditObserver(panel.update_soon)
        self.ui.fitRoiButton.connect("clicked()", self.fit)
        self.ui.maskSegmentComboBox.connect("activated(int)", self._choose_segment)

    def fit(self) -> None:
        """Make the box as large as the volume; there is one afterwards."""
        parameters = self._panel.parameters
        if parameters.roi is None:
            name = slicer.mrmlScene.GenerateUniqueName(_("Region"))
            parameters.roi = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsROINode", name)
        fit_roi(parameters.roi, parameters.inputVolume)

    def react(self, parameters: Any) -> None:
        """Forget the segment with its mask; a mask that is chosen lets the image through."""
        self._choice.follow(parameters)
        self._edits.follow((parameters.inputVolume, parameters.mask, parameters.roi))
        mask, before = parameters.mask, self._mask
        self._mask = mask
        if before is not UNKNOWN and mask is not None and mask is not before:
            views.uncover(parameters.inputVolume, mask)

    def show(self, parameters: Any) -> None:
        kind, mask, segments = parameters.region.value, parameters.mask, []
        for each, names in ROWS.items():
            for name in names:
                getattr(self.ui, name).setVisible(each == kind)
        if kind == "mask" and mask is not None and mask.IsA("vtkMRMLSegmentationNode"):
            inner = mask.GetSegmentation()
            ids = inner.GetSegmentIDs()
            segments = [("", _("All segments"))]
            segments += [(each, inner.GetSegment(each).GetName()) for each in ids]
        for widget in (self.ui.maskSegmentLabel, self.ui.maskSegmentComboBox):
            widget.setVisible(bool(segments))
        box, current = self.ui.maskSegmentComboBox, parameters.maskSegmentID
        self._segments = fill(box, self._segments, segments, current)
        why = "" if self._panel.has_voxels(parameters.inputVolume) else _("Choose a volume first.")
        self._panel.enable(self.ui.fitRoiButton, why)

    def _choose_segment(self, index: int) -> None:
        if self._panel.parameters is not None:
            self._panel.parameters.maskSegmentID = self._segments[index][0]

    def forget(self) -> None:
        """The mask is gone."""
        self._segments, self._mask = [], UNKNOWN
        self._edits.forget()
        self._choice.forget()
        self.ui.maskSegmentComboBox.clear()


class SegmentChoice:
    """A segment's ID among the parameters: it is of some nodes, and goes with each of them.

    `id_name` and `node_names` are the names of the parameters.
    """

    def __init__(self, id_name: str, *node_names: str) -> None:
        self._id, self._nodes = id_name, node_names
        self._known: tuple[list[Any], str] | None = None

    def follow(self, parameters: Any) -> None:
        """Empty the ID if a node has changed without it."""
        segment_id = getattr(parameters, self._id)
        nodes = [getattr(parameters, name) for name in self._nodes]
        known_nodes, known_id = self._known or (nodes, segment_id)
        if nodes != known_nodes and segment_id == known_id != "":
            segment_id = ""
            setattr(parameters, self._id, segment_id)
        self._known = nodes, segment_id

    def forget(self) -> None:
        """The scene is closed."""
        self._known = None


def fill(
    combo_box: Any, shown: list[tuple[str, str]], wanted: list[tuple[str, str]], current: str
) -> list[tuple[str, str]]:
    """Put pairs (ID, name) into a combo box if they are others than shown; returns the pairs."""
    if wanted != shown:
        combo_box.clear()
        combo_box.addItems([name for _id, name in wanted])
    ids = [each for each, _name in wanted]
    index = ids.index(current) if current in ids else (0 if ids else -1)
    if combo_box.currentIndex != index:
        combo_box.setCurrentIndex(index)
    return wanted


def why_not(parameters: Any) -> str:
    """What the region lacks, as a sentence; or an empty text."""
    if parameters.region.value == "roi" and parameters.roi is None:
        return _("Choose or add the box to search in (Advanced, Where to search).")
    if parameters.region.value == "mask":
        if parameters.mask is None:
            return _("Choose the mask to search in (Advanced, Where to search).")
        if parameters.mask is parameters.inputVolume:
            return _("The mask is the volume itself: choose another one.")
    return ""


def nodes_of(parameters: Any) -> dict[str, Any]:
    """The region as the logic takes it."""
    kind = parameters.region.value
    return dict(
        roiNode=parameters.roi if kind == "roi" else None,
        maskNode=parameters.mask if kind == "mask" else None,
        maskSegmentID=parameters.maskSegmentID if kind == "mask" else "",
    )
