"""The menu "Give to": the point that is selected goes to another vessel, or is none."""

from typing import Any

import qt
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML.vessels import vessels_of

from .seeds_table import dot
from .vessel_colors import list_color


class GiveMenu:
    """A menu of the lists, at a button and at a right click in the table.

    Parameters
    ----------
    panel : ConnectednessPanel
    """

    def __init__(self, panel: Any) -> None:
        self._panel, ui = panel, panel.ui
        self.menu = qt.QMenu(ui.seedsTable)
        self.menu.connect("aboutToShow()", self.fill)
        ui.giveSeedButton.setMenu(self.menu)
        self._table = ui.seedsTable
        self._table.contextMenuPolicy = qt.Qt.CustomContextMenu
        self._table.connect("customContextMenuRequested(QPoint)", self._on_right_click)

    def _on_right_click(self, place: Any) -> None:
        if self._panel.seeds.table.selected() is not None:
            self.menu.popup(self._table.viewport().mapToGlobal(place))

    def fill(self) -> None:
        """Offer the lists of now."""
        parameters, seeds = self._panel.parameters, self._panel.seeds
        self.menu.clear()
        row = seeds.table.selected()
        own = seeds.table.rows[row][0] if row is not None else None
        for node in vessels_of(parameters):
            if node is not own:
                text = _("Give to {vessel}").format(vessel=node.GetName())
                self._offer(text, list_color(parameters, node), lambda node=node: seeds.give(node))
        if own is None or own is not parameters.backgroundSeeds:
            color = list_color(parameters, parameters.backgroundSeeds)
            self._offer(_("It is no vessel"), color, seeds.give_to_background)

    def _offer(self, text: str, color: Any, act: Any) -> None:
        action = self.menu.addAction(text)
        action.setIcon(qt.QIcon(dot(color)))
        action.connect("triggered()", act)
