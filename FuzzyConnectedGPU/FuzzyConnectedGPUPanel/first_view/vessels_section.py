"""Section Vessels: one row each once there are several, branches handed over, one more vessel."""

from typing import Any

import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import vessels as vessel_list
from FuzzyConnectedGPUMRML.run_inputs import vessels_of_scene
from FuzzyConnectedGPUMRML.vessels import KIND, kind_of, look, mark_hand_over
from FuzzyVesselCoreLib.mrml.segment_origin import result_segment

from .placing import new_list
from .vessel_colors import several
from .vessels_table import VesselsTable

NAMES = {
    "portal vein": _("Portal vein"),
    "hepatic vein": _("Hepatic vein"),
    "artery": _("Artery"),
    "vein": _("Vein"),
    "other": _("Vessel"),
}


class VesselsSection:
    """Which vessels there are; nothing of it is seen with one vessel but the button that adds one.

    Attributes
    ----------
    table : VesselsTable
    """

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._handing: Any = None  # the list whose next point hands a branch over
        self._disputed: bool | None = None  # whether they are shown
        self.table = VesselsTable(self, panel, NAMES)
        self.ui.addVesselButton.connect("clicked()", self.add)
        self.ui.removeVesselButton.connect("clicked()", self.remove)
        self.ui.handOverButton.connect("clicked(bool)", self.hand_over)

    # --- what the user does

    def add(self) -> None:
        """Add a vessel; the next points are its."""
        parameters = self._panel.parameters
        if parameters is None:
            return
        self._panel.seeds.placing.stop()
        with slicer.util.NodeModify(parameters.parameterNode):
            if parameters.seeds is None and not vessel_list.vessels_of(parameters):
                parameters.seeds = new_list("seeds")
            vessel_list.add_vessel(parameters, NAMES)
            vessel_list.take_colors(parameters)
        for node in vessel_list.vessels_of(parameters):
            self._look(parameters, node)
        self._panel.update_soon()

    def remove(self) -> None:
        """Remove the current vessel, its points, and its segment unless somebody edited it."""
        parameters = self._panel.parameters
        node = parameters.seeds
        if node.GetNumberOfControlPoints() and not slicer.util.confirmYesNoDisplay(
            _("Remove '{name}' and its points?").format(name=node.GetName()),
            windowTitle=self._panel.title(),
        ):
            return
        self._panel.seeds.placing.stop()
        with slicer.util.NodeModify(parameters.parameterNode):
            self._panel.undoing.remove_vessel(parameters, node)
        self._panel.update_soon()

    def choose(self, node: Any) -> None:
        """Let the next points be those of a vessel."""
        parameters = self._panel.parameters
        if node is parameters.seeds:
            return
        placing = self.ui.placeSeedsButton.checked
        self._handing = None
        parameters.seeds = node
        if placing:
            self._panel.seeds.placing.place("seeds", True)

    def rename(self, node: Any, name: str) -> None:
        """Give a vessel a name, and its segment."""
        node.SetName(name)
        self._look(self._panel.parameters, node)

    def change_kind(self, node: Any, kind: str) -> None:
        """Give a vessel a kind; colour, terminology and usual name follow."""
        if kind == kind_of(node).name and node.GetAttribute(KIND):
            return
        parameters = self._panel.parameters
        vessel_list.change_kind(parameters, node, kind, NAMES)
        self._look(parameters, node)
        self._panel.update_soon()

    def change_color(self, node: Any, color: tuple[float, float, float]) -> None:
        """Give a vessel a colour."""
        display = node.GetDisplayNode()
        display.SetSelectedColor(color)
        display.SetColor(color)
        self._look(self._panel.parameters, node)
        self._panel.update_soon()

    def hand_over(self, on: bool = True) -> None:
        """The next click says where a branch begins that belongs to the current vessel."""
        parameters = self._panel.parameters
        self._panel.seeds.placing.place("seeds", on)
        self._handing = parameters.seeds if on else None
        self._panel.update_soon()

    def hand_over_at_mouse(self) -> None:
        """The branch that begins at the mouse belongs to the current vessel."""
        parameters = self._panel.parameters
        if parameters is None or not several(parameters):
            return
        self._handing = parameters.seeds
        if not self._panel.seeds.placing.add_at_mouse("seeds"):
            self._handing = None

    def point_was_placed(self, node: Any) -> None:
        """A point of a list got its place: it hands a branch over, if that was wanted."""
        if self._handing is not node:
            return
        self._handing = None
        index = node.GetNumberOfDefinedControlPoints() - 1
        lists = vessel_list.vessels_of(self._panel.parameters)
        mark_hand_over(lists, node, index)
        node.SetNthControlPointLabel(index, _("branch {number}").format(number=index + 1))
        self._panel.seeds.placing.stop()

    # --- what follows

    def react(self, parameters: Any) -> None:
        """Keep the vessels in the scene where there are several."""
        lists = vessel_list.vessels_of(parameters)
        if not slicer.mrmlScene.IsBatchProcessing():  # else lists are still to be loaded
            if parameters.seeds is None and lists:
                parameters.seeds = lists[0]
            vessel_list.keep(parameters, lists if len(lists) > 1 else [])
        if not self.ui.placeSeedsButton.checked:
            self._handing = None
        before, self._disputed = self._disputed, parameters.showDisputed
        if before not in (None, self._disputed) and vessels_of_scene(parameters.sceneVolume):
            self._panel.threshold.cut_again(parameters)

    def _look(self, parameters: Any, node: Any) -> None:
        """Let the segment of a vessel look as its row."""
        segment_id = result_segment(parameters.segmentation, node, parameters.inputVolume)
        if segment_id:
            look(parameters.segmentation.GetSegmentation().GetSegment(segment_id), node)

    # --- what is shown

    def show(self, parameters: Any) -> None:
        lists = vessel_list.vessels_of(parameters)
        self.ui.vesselsFrame.setVisible(len(lists) > 1)
        self.ui.handOverButton.checked = self._handing is not None
        keys = _("Keys over a slice: <b>A</b> vessel, <b>N</b> not vessel, <b>Z</b> undo")
        if len(lists) > 1:
            keys += _(", <b>H</b> branch")
        self.ui.keysLabel.text = f"<small>{keys}</small>"
        if len(lists) > 1:
            receiver = parameters.seeds.GetName() if parameters.seeds is not None else ""
            self.ui.handOverButton.text = _("Give a branch to {vessel}").format(vessel=receiver)
            self.table.show(parameters, lists)
            why = (
                ""
                if vessels_of_scene(parameters.sceneVolume)
                else _("There is no result yet: press Apply.")
            )
            self._panel.enable(self.ui.handOverButton, why)

    def forget(self) -> None:
        """All lists are gone."""
        self._handing = self._disputed = None
        self.table.forget()
