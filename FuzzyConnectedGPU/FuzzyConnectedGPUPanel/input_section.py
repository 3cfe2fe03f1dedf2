"""Sections Input and Where to search: which volume, what belongs to it, and the region in it."""

from typing import Any

import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import views
from FuzzyConnectedGPUMRML.parameters import NODES, VALUES, restore, store
from FuzzyConnectedGPUMRML.vessel_lists import list_of, vessels_of
from FuzzyVesselCoreLib.mrml.reading import fit_roi
from FuzzyVesselCoreLib.mrml.writing import KIND
from FuzzyVesselCoreLib.widgets.module_panel import EditObserver

# Names of the widgets that a kind of region needs, beside the one that names the kind.
ROWS = {
    "whole": (),
    "roi": ("roiLabel", "roiSelector", "fitRoiButton"),
    "mask": ("maskLabel", "maskSelector"),
}


class InputSection:
    """The volume: the one in the slices is chosen until somebody chooses.

    Points, threshold and automatic update belong to their volume and come and go with it; choosing
    a volume starts no run. Results of the module are not offered.
    """

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self.forget()

    def forget(self) -> None:
        """The volume is gone."""
        self._seen: tuple = (None, {}, [])  # volume, points and values, and lists of all vessels

    def _fits(self, node: Any) -> bool:
        return self._panel.has_voxels(node) and node.GetAttribute(KIND) is None

    def shows_another(self, volume: Any) -> bool:
        """Whether a slice shows a different volume than the panel's."""
        own = self._panel.parameters and self._panel.parameters.inputVolume
        another = self._fits(volume) and not volume.IsA("vtkMRMLLabelMapVolumeNode")
        return another and volume is not own

    def add_to(self, volume: Any, name: str, position: Any) -> None:
        """Add a point to a list; the volume that its slice shows is chosen, with its own lists."""
        panel, another = self._panel, self.shows_another(volume)
        if another:
            panel.parameters.inputVolume = volume
        list_of(panel.parameters, name).AddControlPointWorld(position)
        if another:
            text = _("The volume is now {name}, which the slice shows.")
            panel.say(text.format(name=volume.GetName()))

    def react(self, parameters: Any) -> None:
        """Where another volume was chosen, its own points and values take the earlier ones' place.

        What was changed together with the volume, as by a script, stays.
        """
        before, values, vessels = self._seen
        if parameters.inputVolume is None:
            shown = views.shown_volume()
            # Once in a scene: a volume that is removed is not replaced.
            if before is not None or slicer.mrmlScene.IsBatchProcessing() or not self._fits(shown):
                return
            parameters.inputVolume = shown
        volume = parameters.inputVolume
        if before in (None, volume):
            return
        if slicer.mrmlScene.IsNodePresent(before):
            store(before, values, vessels)
        same = tuple(name for name, value in values.items() if getattr(parameters, name) == value)
        restore(parameters, volume, same)
        self._panel.volume_changed(volume)

    def remember(self, parameters: Any) -> None:
        """All sections have reacted; points and values are still those of a volume that went."""
        volume = parameters.inputVolume or self._seen[0]
        values = {name: getattr(parameters, name) for name in (*NODES, *VALUES)}
        self._seen = volume, values, vessels_of(parameters)

    def show(self, parameters: Any) -> None:
        nodes = slicer.util.getNodesByClass("vtkMRMLScalarVolumeNode")
        own = [each for each in nodes if each.GetAttribute(KIND) is not None]
        results = [each.GetID() for each in own if each is not parameters.inputVolume]
        offered = self.ui.inputSelector.sortFilterProxyModel()
        if list(offered.hiddenNodeIDs) != results:
            offered.hiddenNodeIDs = results


class RegionSection:
    """Where vessels are searched: the whole volume, a box, or a mask."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._choice = SegmentChoice(panel, self.ui.maskSegmentComboBox, "maskSegmentID", ("mask",))
        self._edits = EditObserver(panel.update_soon)
        self.ui.fitRoiButton.connect("clicked()", self.fit)
        self.ui.maskSelector.connect("nodeActivated(vtkMRMLNode*)", self._uncover)

    def forget(self) -> None:
        """The mask is gone."""
        self._edits.follow(())
        self._choice.forget()

    def fit(self) -> None:
        """Make the box as large as the volume; there is one afterwards."""
        parameters = self._panel.parameters
        if parameters.roi is None:
            name = slicer.mrmlScene.GenerateUniqueName(_("Region"))
            parameters.roi = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsROINode", name)
        if self._panel.has_voxels(parameters.inputVolume):
            fit_roi(parameters.roi, parameters.inputVolume)

    def _uncover(self, mask: Any) -> None:
        """A mask that is chosen lets the image through."""
        if mask is not None:
            views.uncover(self._panel.parameters.inputVolume, mask)

    def react(self, parameters: Any) -> None:
        """Forget the segment with its mask, and follow edits."""
        self._choice.follow(parameters)
        self._edits.follow((parameters.inputVolume, parameters.mask, parameters.roi))

    def show(self, parameters: Any) -> None:
        kind, mask = parameters.region.value, parameters.mask
        for each, names in ROWS.items():
            for name in names:
                getattr(self.ui, name).setVisible(each == kind)
        of_segments = kind == "mask" and mask is not None and mask.IsA("vtkMRMLSegmentationNode")
        for widget in (self.ui.maskSegmentLabel, self.ui.maskSegmentComboBox):
            widget.setVisible(of_segments)
        self._choice.show(parameters, mask if of_segments else None, _("All segments"), "{name}")


class SegmentChoice:
    """A combo box of segments, and the ID among the parameters that is chosen in it.

    The ID is of some nodes, and goes with each of them: another segmentation may have the same one.
    `agreed` is asked before a segment is taken.
    """

    def __init__(
        self, panel: Any, box: Any, id_name: str, node_names: tuple[str, ...], agreed: Any = None
    ) -> None:
        self._panel, self._box, self._agreed = panel, box, agreed or (lambda _id: True)
        self._id, self._nodes = id_name, node_names
        box.connect("activated(int)", self._choose)
        self.forget()

    def forget(self) -> None:
        """The scene is closed."""
        self._seen: tuple | None = None  # the nodes, and the ID

    def follow(self, parameters: Any) -> None:
        """Empty the ID if a node has changed without it."""
        nodes, chosen = [getattr(parameters, name) for name in self._nodes], self._id
        if self._seen and self._seen[0] != nodes and self._seen[1] == getattr(parameters, chosen):
            setattr(parameters, chosen, "")
        self._seen = nodes, getattr(parameters, chosen)

    def _choose(self, index: int) -> None:
        wanted, parameters = self._box.itemData(index), self._panel.parameters
        if self._agreed(wanted):
            setattr(parameters, self._id, wanted)
        self._show_current(parameters)

    def show(self, parameters: Any, segmentation: Any, none: str, text: str) -> None:
        """Offer the segments of a node, each as `text` with its {name}, below `none` of them."""
        offered, box = [("", none)], self._box
        if segmentation is not None:
            inner = segmentation.GetSegmentation()
            names = [(each, inner.GetSegment(each).GetName()) for each in inner.GetSegmentIDs()]
            offered += [(each, text.format(name=name)) for each, name in names]
        if offered != [(box.itemData(row), box.itemText(row)) for row in range(box.count)]:
            box.clear()
            for segment_id, name in offered:
                box.addItem(name, segment_id)
        self._show_current(parameters)

    def _show_current(self, parameters: Any) -> None:
        self._box.setCurrentIndex(max(self._box.findData(getattr(parameters, self._id)), 0))


def region_problem(parameters: Any) -> str:
    """What the region lacks, as a sentence; or an empty text."""
    if parameters.region.value == "roi" and parameters.roi is None:
        return _("Choose or add the box to search in (Advanced, Where to search).")
    if parameters.region.value == "mask":
        if parameters.mask is None:
            return _("Choose the mask to search in (Advanced, Where to search).")
        if parameters.mask is parameters.inputVolume:
            return _("The mask is the volume itself: choose another one.")
    return ""


def region_nodes(parameters: Any) -> dict[str, Any]:
    """The region as the logic takes it."""
    kind = parameters.region.value
    return dict(
        roiNode=parameters.roi if kind == "roi" else None,
        maskNode=parameters.mask if kind == "mask" else None,
        maskSegmentID=parameters.maskSegmentID if kind == "mask" else "",
    )
