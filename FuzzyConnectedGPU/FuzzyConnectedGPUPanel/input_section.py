"""Sections Input, Vessels and Where to search: the volume, its vessels, and the region in it."""

from typing import Any

import qt
import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import vessel_lists, views
from FuzzyConnectedGPUMRML.fuzzy_scene import labelled_millilitres, vessels_of_scene
from FuzzyConnectedGPUMRML.parameters import NODES, VALUES, restore, store
from FuzzyConnectedGPUMRML.vessel_lists import KINDS, Color, color_of, kind_of, vessels_of
from FuzzyVesselCoreLib.mrml.points import paint
from FuzzyVesselCoreLib.mrml.reading import fit_roi
from FuzzyVesselCoreLib.mrml.segments import VESSEL_KIND, result_segment, style_segment
from FuzzyVesselCoreLib.mrml.writing import KIND
from FuzzyVesselCoreLib.widgets.module_panel import EditObserver

from .wording import millilitres

# Names of the widgets that a kind of region needs, beside the one that names the kind.
ROWS = {
    "roi": ("roiLabel", "roiSelector", "fitRoiButton"),
    "mask": ("maskLabel", "maskSelector"),
}
COLOR, NAME, KIND_COLUMN = range(3)  # of the columns
ROW, HEADER, SHOWN = 26, 24, 6  # pixels of a row and of the header; rows before it scrolls


class InputSection:
    """The volume: the one in the slices is chosen until somebody chooses.

    Points, threshold and automatic update belong to their volume and come and go with it; choosing
    a volume starts no run. Results of the module are not offered.
    """

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self.forget()

    def forget(self) -> None:
        self._seen: tuple = (None, {}, [])  # volume, points and values, and lists of all vessels

    def _fits(self, node: Any) -> bool:
        return self._panel.has_voxels(node) and node.GetAttribute(KIND) is None

    def shows_another(self, volume: Any) -> bool:
        """Whether a slice shows a different volume than the panel's."""
        image = self._fits(volume) and not volume.IsA("vtkMRMLLabelMapVolumeNode")
        return image and volume is not self._panel.parameters.inputVolume

    def add_to(self, volume: Any, name: str, position: Any) -> None:
        """Add a point to a list; the volume that its slice shows is chosen, with its own lists."""
        panel, another = self._panel, self.shows_another(volume)
        if another:
            panel.parameters.inputVolume = volume
        vessel_lists.list_of(panel.parameters, name).AddControlPointWorld(position)
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
        """Remember points and values, those of a removed volume too, when all sections reacted."""
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


class VesselsSection:
    """Which vessels there are; with one vessel only the button that adds one is seen."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        table = self.ui.vesselsTable
        self._table = Table(table, widest=NAME)
        table.horizontalHeader().setFixedHeight(HEADER)
        table.connect("currentCellChanged(int,int,int,int)", lambda row, *_: self._on_row(row))
        table.connect("cellChanged(int,int)", self._on_text)
        table.connect("cellClicked(int,int)", self._on_cell)
        self.ui.addVesselButton.connect("clicked()", self.add)
        self.ui.removeVesselButton.connect("clicked()", self.remove)
        self.ui.handOverButton.connect("clicked(bool)", self.hand_over)
        self.forget()

    def forget(self) -> None:
        self._handing: Any = None  # the list whose next point hands a branch over
        self._rows: list[Any] = []  # the lists
        self._table.show([])

    # --- what the user does

    def add(self) -> None:
        """Add a vessel; the next points are its."""
        parameters = self._panel.parameters
        self._panel.seeds.placing.stop()
        with slicer.util.NodeModify(parameters.parameterNode):
            if not vessels_of(parameters):
                vessel_lists.list_of(parameters, "seeds")
            vessel_lists.add_vessel(parameters)

    def remove(self) -> None:
        """Remove the current vessel, its points, and its segment unless somebody edited it."""
        parameters = self._panel.parameters
        node = parameters.seeds
        question = _("Remove '{name}' and its points?").format(name=node.GetName())
        if node.GetNumberOfControlPoints() and not slicer.util.confirmYesNoDisplay(
            question, windowTitle=self._panel.title()
        ):
            return
        self._panel.seeds.placing.stop()
        self._panel.undoing.remove_vessel(parameters, node)
        self._panel.update_soon()

    def _on_row(self, row: int) -> None:
        """The next points are those of the vessel that is selected."""
        parameters, placing = self._panel.parameters, self.ui.placeSeedsButton.checked
        if not 0 <= row < len(self._rows) or self._rows[row] is parameters.seeds:
            return
        self._handing = None
        parameters.seeds = self._rows[row]
        if placing:
            self._panel.seeds.placing.place("seeds", True)

    def _on_text(self, row: int, column: int) -> None:
        """A vessel gets a name, and its segment."""
        text = self.ui.vesselsTable.item(row, column).text().strip()
        if text:
            self._rows[row].SetName(text)
        self._look(self._rows[row])

    def _on_cell(self, row: int, column: int) -> None:
        """A click on a colour opens a colour dialog."""
        if column == COLOR:
            now = qt.QColor.fromRgbF(*color_of(self._rows[row]))
            color = qt.QColorDialog.getColor(now, self.ui.vesselsTable)
            if color.isValid():
                self.change_color(self._rows[row], (color.redF(), color.greenF(), color.blueF()))

    def change_color(self, node: Any, color: Color) -> None:
        """Give a vessel a colour, and its segment."""
        paint(node, color)
        self._look(node)

    def change_kind(self, node: Any, kind: str) -> None:
        """Give a vessel a kind; colour, terminology and usual name follow."""
        if kind != kind_of(node) or not node.GetAttribute(VESSEL_KIND):
            vessel_lists.change_kind(self._panel.parameters, node, kind)
            self._look(node)

    def _look(self, node: Any) -> None:
        """Let the segment of a vessel look as its row."""
        parameters = self._panel.parameters
        segment_id = result_segment(parameters.segmentation, node, parameters.inputVolume)
        if segment_id:
            segmentation = parameters.segmentation.GetSegmentation()
            style_segment(segmentation.GetSegment(segment_id), node)
        self._panel.update_soon()

    def hand_over(self, on: bool = True) -> None:
        """The next click says where a branch begins that belongs to the current vessel."""
        self._panel.seeds.placing.place("seeds", on)
        self._handing = self._panel.parameters.seeds if on else None
        self._panel.update_soon()

    def hand_over_at_mouse(self) -> None:
        """The branch that begins at the mouse belongs to the current vessel."""
        parameters = self._panel.parameters
        if len(vessels_of(parameters)) > 1:
            self._handing = parameters.seeds
            if not self._panel.seeds.placing.add_at_mouse("seeds"):
                self._handing = None

    def point_was_placed(self, node: Any) -> None:
        """A point of a list got its place: it hands a branch over, if that was wanted."""
        if self._handing is not node:
            return
        self._handing = None
        index = node.GetNumberOfDefinedControlPoints() - 1
        vessel_lists.mark_hand_over(vessels_of(self._panel.parameters), node, index)
        node.SetNthControlPointLabel(index, _("branch {number}").format(number=index + 1))
        self._panel.seeds.placing.stop()

    # --- what follows

    def react(self, parameters: Any) -> None:
        """Keep the vessels in the scene where there are several."""
        lists = vessels_of(parameters)
        if not slicer.mrmlScene.IsBatchProcessing():  # else lists are still to be loaded
            if parameters.seeds is None and lists:
                parameters.seeds = lists[0]
            vessel_lists.keep(parameters, lists if len(lists) > 1 else [])
        if not self.ui.placeSeedsButton.checked:
            self._handing = None

    # --- what is shown

    def show(self, parameters: Any) -> None:
        lists = vessels_of(parameters)
        several = len(lists) > 1
        self.ui.vesselsFrame.setVisible(several)
        self.ui.handOverButton.checked = self._handing is not None
        keys = _("Keys: <b>A</b> vessel, <b>N</b> not vessel, <b>Z</b> undo")
        keys += _(", <b>H</b> branch") if several else ""
        self.ui.keysLabel.text = f"<small>{keys}</small>"
        if several:
            receiver = parameters.seeds.GetName() if parameters.seeds is not None else ""
            self.ui.handOverButton.text = _("Give a branch to {vessel}").format(vessel=receiver)
            self._show_table(parameters, lists)
            there = vessels_of_scene(parameters.sceneVolume)
            why = "" if there else _("There is no result yet: press Apply.")
            self._panel.enable(self.ui.handOverButton, why)

    def _show_table(self, parameters: Any, lists: list[Any]) -> None:
        found, cells = vessels_of_scene(self._panel.result_scene(parameters)), []
        for node in lists:
            volume = ""
            if node in found:
                number = found.index(node) + 1
                volume = millilitres(labelled_millilitres(parameters.labelmap, number) or 0.0)
            mark = ("", _("Click to choose a colour."), color_of(node))
            points = str(node.GetNumberOfDefinedControlPoints())
            texts = [(text, "", None) for text in (node.GetName(), "", points, volume)]
            cells.append([mark, *texts])
        self._rows, table = lists, self.ui.vesselsTable
        self._table.show(cells)
        blocked = table.blockSignals(True)
        for row, node in enumerate(lists):
            box = table.cellWidget(row, KIND_COLUMN) or self._kind_box(row)
            box.setCurrentIndex(list(KINDS).index(kind_of(node)))
        if parameters.seeds in lists:
            current = lists.index(parameters.seeds)
            if table.currentRow() != current or not table.selectedItems():
                table.selectRow(current)
        table.blockSignals(blocked)
        table.setFixedHeight(HEADER + 2 + ROW * min(len(lists), SHOWN))

    def _kind_box(self, row: int) -> Any:
        box = qt.QComboBox()
        for kind, (name, _color) in KINDS.items():
            box.addItem(name, kind)
        box.connect(
            "activated(int)", lambda index: self.change_kind(self._rows[row], box.itemData(index))
        )
        self.ui.vesselsTable.setCellWidget(row, KIND_COLUMN, box)
        return box


class RegionSection:
    """Where vessels are searched: the whole volume, a box, or a mask."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._choice = SegmentChoice(panel, self.ui.maskSegmentComboBox, "maskSegmentID", ("mask",))
        self._edits = EditObserver(panel.update_soon)
        self.ui.fitRoiButton.connect("clicked()", self.fit)
        self.ui.maskSelector.connect("nodeActivated(vtkMRMLNode*)", self._uncover)

    def forget(self) -> None:
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

    def nodes(self, parameters: Any) -> dict[str, Any]:
        """The region as the logic takes it."""
        kind = parameters.region.value
        return dict(
            roiNode=parameters.roi if kind == "roi" else None,
            maskNode=parameters.mask if kind == "mask" else None,
            maskSegmentID=parameters.maskSegmentID if kind == "mask" else "",
        )

    def problem(self, parameters: Any) -> str:
        """What the region lacks, as a sentence; or an empty text."""
        if parameters.region.value == "roi" and parameters.roi is None:
            return _("Choose or add the box to search in (Advanced, Where to search).")
        if parameters.region.value == "mask":
            if parameters.mask is None:
                return _("Choose the mask to search in (Advanced, Where to search).")
            if parameters.mask is parameters.inputVolume:
                return _("The mask is the volume itself: choose another one.")
        return ""

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


# ---- Tables of vessels and of points

Cell = tuple[str, str, Color | None]  # text, tooltip, and the colour of a mark


class Table:
    """Rows of a QTableWidget; texts that are as before are left alone, so that typing goes on.

    Column `widest` takes the room that is left; it alone may be edited, and numbers are to its
    right.
    """

    def __init__(self, widget: Any, widest: int = 0) -> None:
        self.widget, self._widest = widget, widest
        header = widget.horizontalHeader()
        header.setSectionResizeMode(qt.QHeaderView.ResizeToContents)
        header.setSectionResizeMode(widest, qt.QHeaderView.Stretch)

    def show(self, rows: list[list[Cell]]) -> None:
        """Show rows of cells."""
        blocked = self.widget.blockSignals(True)
        self.widget.setRowCount(len(rows))
        for number, row in enumerate(rows):
            for column, cell in enumerate(row):
                self._fill(number, column, *cell)
        self.widget.blockSignals(blocked)

    def _fill(self, row: int, column: int, text: str, tooltip: str, color: Color | None) -> None:
        item = self.widget.item(row, column)
        if item is None:
            item = qt.QTableWidgetItem("")
            if column != self._widest:
                item.setFlags(qt.Qt.ItemIsSelectable | qt.Qt.ItemIsEnabled)
            if column > self._widest:
                item.setTextAlignment(qt.Qt.AlignRight | qt.Qt.AlignVCenter)
            self.widget.setItem(row, column, item)
        if item.text() != text:
            item.setText(text)
        item.setToolTip(tooltip)
        if color is not None:
            item.setIcon(icon(color))


def icon(color: Color) -> Any:
    """A mark (QIcon) in the colour of a list."""
    picture, found = qt.QPixmap(12, 12), qt.QIcon()
    picture.fill(qt.QColor.fromRgbF(*color))
    for mode in (qt.QIcon.Normal, qt.QIcon.Selected):  # else a selected row tints it
        found.addPixmap(picture, mode)
    return found
