"""Saves the table of branches and the tree as files."""

import os
import re
from collections.abc import Callable
from typing import Any

import qt
import slicer
from slicer.i18n import tr as _

from PotentialSkeletonLib.graph.exports import table_text
from PotentialSkeletonMRML.branch_tools.files import save_tree
from PotentialSkeletonMRML.kept_result import tree_name
from PotentialSkeletonMRML.stored_skeleton import stored_tables


class Saving:
    """The two buttons below the table.

    Parameters
    ----------
    panel : Panel
    models : callable
        Returns the models whose branches are shown.
    """

    def __init__(self, panel: Any, models: Callable[[], list[Any]]) -> None:
        self._panel, self._models = panel, models
        panel.ui.csvButton.connect("clicked()", self.save_csv)
        panel.ui.swcButton.connect("clicked()", self.save_swc)

    def save_csv(self) -> None:
        """Ask for a file and save the table there."""
        table = stored_tables(self._models())
        title = _("Save the table of branches")
        self._save(title, "csv", lambda path: table_text(table, path))

    def save_swc(self) -> None:
        """Ask for a file and save the tree there."""
        self._save(_("Save the tree"), "swc", self._write_swc)

    def _write_swc(self, path: str) -> None:
        """Write one file a tree; of several, each has its name behind that of the file."""
        models = self._models()
        for model in models:
            stem, ending = os.path.splitext(path)
            own = re.sub(r'[<>:"/\\|?*\x00-\x1f]', "-", tree_name(model))
            place = path if len(models) == 1 else f"{stem}-{own}{ending}"
            save_tree(model, place)

    def _save(self, title: str, suffix: str, write: Callable[[str], Any]) -> None:
        models = self._models()
        name = models[0].GetName() if len(models) == 1 else _("Centrelines")
        name = name.replace("/", "-")
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
