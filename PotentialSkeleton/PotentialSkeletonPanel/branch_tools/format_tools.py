"""The tree for other programs: a model for SlicerVMTK, and a folder of files."""

import re
from pathlib import Path
from typing import Any

import qt
from slicer.i18n import tr as _

from PotentialSkeletonMRML.kept_result import tree_name


class FormatTools:
    """Widgets that hand the tree on.

    Parameters
    ----------
    tools : BranchTools
    """

    def __init__(self, tools: Any) -> None:
        self._tools, self.ui = tools, tools.ui
        self.ui.vmtkButton.connect("clicked()", self._on_vmtk)
        self.ui.formatsButton.connect("clicked()", self._on_formats)

    def _on_vmtk(self) -> None:
        tree = self._tools.tree()

        def add() -> str:
            return _("Added the model {name}.").format(name=tree.addCentrelines().GetName())

        self._tools.attempt(add)

    def _on_formats(self) -> None:
        tree, title = self._tools.tree(), _("Where to put the folder of files")
        place = qt.QFileDialog.getExistingDirectory(self.ui.formatsButton, title)
        if not place:
            return
        own = re.sub(r'[<>:"/\\|?*\x00-\x1f]', "-", tree_name(tree.model)).strip(". ")
        folder = Path(place) / _("{name} for other programs").format(name=own)

        def save(_progress: Any) -> str:
            said = tree.saveFormats(folder)
            return "\n".join([_("Saved {path}").format(path=folder), *said])

        self._tools.start(save)
