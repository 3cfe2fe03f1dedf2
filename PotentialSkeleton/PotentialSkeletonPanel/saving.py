"""Saves the table of branches and the tree as files."""

import os
from collections.abc import Callable
from typing import Any

import qt
import slicer
from slicer.i18n import tr as _

from PotentialSkeletonLib.graph.exports import table_text
from PotentialSkeletonMRML.stored_skeleton import stored_skeleton, stored_table


class Saving:
    """The two buttons below the table.

    Parameters
    ----------
    panel : Panel
    model : callable
        Returns the model whose branches are shown.
    """

    def __init__(self, panel: Any, model: Callable[[], Any]) -> None:
        self._panel, self._model = panel, model
        panel.ui.csvButton.connect("clicked()", self.save_csv)
        panel.ui.swcButton.connect("clicked()", self.save_swc)

    def save_csv(self) -> None:
        """Ask for a file and save the table there."""
        table = stored_table(self._model())
        title = _("Save the table of branches")
        self._save(title, "csv", lambda path: table_text(table, path))

    def save_swc(self) -> None:
        """Ask for a file and save the tree there."""
        skeleton = stored_skeleton(self._model(), True)
        assert skeleton is not None, "the buttons are shown with a skeleton only"
        self._save(_("Save the tree"), "swc", skeleton.to_swc)

    def _save(self, title: str, suffix: str, write: Callable[[str], Any]) -> None:
        name = self._model().GetName().replace("/", "-")
        path = qt.QFileDialog.getSaveFileName(
            self._panel.ui.csvButton, title, f"{name}.{suffix}", f"{suffix.upper()} (*.{suffix})"
        )
        if path:
            asked, path = path, with_suffix(path, suffix)
            if path != asked and not self._may_overwrite(path):
                return
            with slicer.util.tryWithErrorDisplay(_("The file was not saved.")):
                write(path)
                self._panel.say(_("Saved {path}").format(path=path))

    def _may_overwrite(self, path: str) -> bool:
        """Ask: the dialog has asked for the name without the suffix, and not for this one."""
        return not os.path.exists(path) or slicer.util.confirmYesNoDisplay(
            _("{path} is there already. Replace it?").format(path=path),
            windowTitle=self._panel.title(),
        )


def with_suffix(path: str, suffix: str) -> str:
    """Return the name of the file that is written: with the suffix, whatever other dots it has."""
    return path if path.lower().endswith(f".{suffix}") else f"{path}.{suffix}"
