"""Cross-sections measured, vessels split by branch, an organ divided among the branches."""

from typing import Any

from slicer.i18n import tr as _

from ..current_object import is_segmentation
from ..summary_text import counted

GROUPS = {
    "branch": _("by branch"),
    "generation": _("by generation"),
    "name": _("by name"),
    "subtree": _("by name, downstream"),
}
DISTANCES = {"straight": _("straight"), "geodesic": _("along the organ")}


class DivideTools:
    """Widgets that start runs on the tree.

    Parameters
    ----------
    tools : BranchTools
    """

    def __init__(self, tools: Any) -> None:
        self._tools, self.ui = tools, tools.ui
        self.ui.splitComboBox.addItems(list(GROUPS.values()))
        self.ui.groupComboBox.addItems(list(GROUPS.values()))
        self.ui.distanceComboBox.addItems(list(DISTANCES.values()))
        self.ui.sectionsButton.connect("clicked()", self._on_sections)
        self.ui.splitButton.connect("clicked()", self._on_split)
        self.ui.organButton.connect("clicked()", self._on_organ)
        self.ui.organSelector.connect("currentNodeChanged(vtkMRMLNode*)", self._on_organ_chosen)

    def show(self) -> None:
        """Show the segments of the organ's node."""
        self._on_organ_chosen(self.ui.organSelector.currentNode())

    def _on_organ_chosen(self, node: Any) -> None:
        segments = is_segmentation(node)
        self.ui.organSegmentSelector.setVisible(segments)
        if segments:
            self.ui.organSegmentSelector.setCurrentNode(node)
        self.ui.organButton.enabled = node is not None

    def _on_sections(self) -> None:
        tree = self._tools.tree()

        def measure(progress: Any) -> str:
            tree.measureSections(progress)
            return _("The table has areas and both diameters now; Save table writes them.")

        self._tools.start(measure)

    def _on_split(self) -> None:
        tree = self._tools.tree()
        kind = list(GROUPS)[self.ui.splitComboBox.currentIndex]

        def split(progress: Any) -> str:
            node = tree.split(kind, progress)
            count = node.GetSegmentation().GetNumberOfSegments()
            return _("{segments} in {name}.").format(
                segments=counted(count, _("segment"), _("segments")), name=node.GetName()
            )

        self._tools.start(split)

    def _on_organ(self) -> None:
        tree, node = self._tools.tree(), self.ui.organSelector.currentNode()
        segment = self.ui.organSegmentSelector.currentSegmentID() if is_segmentation(node) else None
        kind = list(GROUPS)[self.ui.groupComboBox.currentIndex]
        distance = list(DISTANCES)[self.ui.distanceComboBox.currentIndex]

        def divide(progress: Any) -> str:
            found = tree.divideOrgan(node, segment, kind, distance, progress)
            largest = max(found.volumes, key=found.volumes.__getitem__)
            return _("{parts}; the largest is {name} with {volume:.0f} ml.").format(
                parts=counted(len(found.volumes), _("part"), _("parts")),
                name=largest,
                volume=found.volumes[largest],
            )

        self._tools.start(divide)
