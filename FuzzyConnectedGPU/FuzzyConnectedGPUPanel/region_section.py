"""Section Region: the whole volume, a box, or a mask."""

import slicer
from slicer.i18n import tr as _

from FuzzyVesselCoreLib.mrml.roi_fit import fit_roi

# Names of the widgets that a kind of region needs, beside the one that names the kind.
ROWS = {
    "whole": (),
    "roi": ("roiLabel", "roiSelector", "fitRoiButton"),
    "mask": ("maskLabel", "maskSelector"),
}
SEGMENT_ROW = ("maskSegmentLabel", "maskSegmentComboBox")


class RegionSection:
    """Where paths may go."""

    def __init__(self, panel):
        self._panel, self.ui = panel, panel.ui
        self._widgets = slicer.util.childWidgetVariables(self.ui.regionCollapsibleButton)
        self._segments, self._choice = [], SegmentChoice("mask", "maskSegmentID")
        self.ui.fitRoiButton.connect("clicked()", self.fit)
        self.ui.maskSegmentComboBox.connect("activated(int)", self._choose_segment)

    def fit(self):
        """Make the box as large as the volume; there is one afterwards."""
        parameters = self._panel.parameters
        if parameters.roi is None:
            name = slicer.mrmlScene.GenerateUniqueName(_("Region"))
            parameters.roi = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsROINode", name)
        fit_roi(parameters.roi, parameters.inputVolume)

    def show(self, parameters):
        self._choice.follow(parameters)
        kind = parameters.region.value
        for each, names in ROWS.items():
            for name in names:
                getattr(self._widgets, name).setVisible(each == kind)
        self._show_segments(parameters, kind == "mask")
        why = "" if self._panel.has_voxels(parameters.inputVolume) else _("Choose a volume first.")
        self._panel.enable(self.ui.fitRoiButton, why)

    def _show_segments(self, parameters, wanted):
        """The segments of a segmentation; the row is hidden where the mask has none."""
        mask, segments = parameters.mask, []
        if wanted and mask is not None and mask.IsA("vtkMRMLSegmentationNode"):
            inner = mask.GetSegmentation()
            segments = [("", _("All segments"))] + [
                (each, inner.GetSegment(each).GetName()) for each in inner.GetSegmentIDs()
            ]
        for name in SEGMENT_ROW:
            getattr(self._widgets, name).setVisible(bool(segments))
        self._segments = fill(
            self.ui.maskSegmentComboBox, self._segments, segments, parameters.maskSegmentID
        )

    def _choose_segment(self, index):
        if self._panel.parameters is not None:
            self._panel.parameters.maskSegmentID = self._segments[index][0]

    def forget(self):
        """The mask is gone."""
        self._segments = []
        self._choice.forget()
        self.ui.maskSegmentComboBox.clear()


class SegmentChoice:
    """A segment's ID among the parameters: it is of one segmentation, and goes with that.

    Parameters
    ----------
    node_name, id_name : str
        Of the two parameters.
    """

    def __init__(self, node_name, id_name):
        self._names, self._known = (node_name, id_name), None

    def follow(self, parameters):
        """Empty the ID if the node has changed without it."""
        node, segment_id = (getattr(parameters, name) for name in self._names)
        known_node, known_id = self._known or (node, segment_id)
        if node is not known_node and segment_id == known_id != "":
            segment_id = ""
            setattr(parameters, self._names[1], segment_id)
        self._known = node, segment_id

    def forget(self):
        """The scene is closed."""
        self._known = None


def fill(combo_box, shown, wanted, current):
    """Put pairs (ID, name) into a combo box if they are others than shown; returns the pairs."""
    if wanted != shown:
        combo_box.clear()
        combo_box.addItems([name for _id, name in wanted])
    ids = [each for each, _name in wanted]
    index = ids.index(current) if current in ids else (0 if ids else -1)
    if combo_box.currentIndex != index:
        combo_box.setCurrentIndex(index)
    return wanted


def why_not(parameters):
    """What the region lacks, as a sentence; or an empty text."""
    if parameters.region.value == "roi" and parameters.roi is None:
        return _("Choose or add the box to search in (section Region).")
    if parameters.region.value == "mask" and parameters.mask is None:
        return _("Choose the mask to search in (section Region).")
    return ""


def nodes_of(parameters):
    """The region as the logic takes it."""
    kind = parameters.region.value
    return dict(
        roiNode=parameters.roi if kind == "roi" else None,
        maskNode=parameters.mask if kind == "mask" else None,
        maskSegmentID=parameters.maskSegmentID if kind == "mask" else "",
    )
