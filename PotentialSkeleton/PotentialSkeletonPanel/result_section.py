"""What was found: a line, the branches, the radius along one of them, a legend and notes."""

from typing import Any

from PotentialSkeletonMRML.kept_result import kept_notes
from PotentialSkeletonMRML.stored_skeleton import stored_skeleton, stored_table

from .advice import next_step
from .branch_list import BranchList
from .highlight import Highlight
from .legend import Legend
from .radius_plot import RadiusPlot
from .summary_text import summary


class ResultSection:
    """Shows the result of one model; a click on a branch shows it in the views.

    Attributes
    ----------
    model : vtkMRMLModelNode or None
        Whose branches are shown.
    advice : str
        What to do next with them.
    """

    def __init__(self, panel: Any) -> None:
        self.ui = panel.ui
        self._skeleton: Any = None
        self._shown: tuple | None = None
        self.advice = ""
        self._highlight = Highlight()
        self._branches = BranchList(self.ui.branchTable, self._on_branch)
        self._plot = RadiusPlot(self.ui.plotFrame)
        self._legend = Legend(self.ui.legendTitle, self.ui.legendFrame)

    @property
    def model(self) -> Any:
        return self._shown[0] if self._shown else None

    def show(self, model: Any, colouring: str) -> None:
        """Show the branches of a model's lines, or nothing."""
        stamp = _stamp(model)
        if stamp != self._shown:
            self._shown = stamp
            self._show_other(model)
        if self._skeleton is not None:
            self._legend.show_colors(colouring, model)

    def clear_choice(self) -> None:
        """Choose no branch, and show none in the views."""
        self.ui.branchTable.clearSelection()

    def forget(self) -> None:
        """The scene is being closed."""
        self._highlight.hide()
        self._skeleton, self._shown, self.advice = None, (), ""
        self.ui.resultArea.setVisible(False)

    def _show_other(self, model: Any) -> None:
        self._highlight.hide()
        self._skeleton = stored_skeleton(model) if model is not None else None
        there = self._skeleton is not None
        self.ui.resultArea.setVisible(there)
        self.advice = ""
        if not there:
            return
        table = stored_table(model)
        self.advice = next_step(table)
        self.ui.summaryLabel.text = summary(table)
        self._branches.fill(table)
        self._plot.show_branch(self._skeleton, None)
        said = kept_notes(model)
        self.ui.notesText.plainText = "\n".join(f"\N{BULLET} {each}" for each in said)

    def _on_branch(self, branch: int | None) -> None:
        """Show the branch that was clicked."""
        if self._skeleton is None:
            return
        if branch is None:
            self._highlight.hide()
        else:
            curve = self._skeleton.branches[branch]
            transform_id = self.model.GetTransformNodeID()
            self._highlight.show(curve.points[:, ::-1], curve.radius, transform_id)
        self._plot.show_branch(self._skeleton, branch)


def _stamp(model: Any) -> tuple:
    """Return what changes when a model gets other lines; colours change nothing of it."""
    points = model.GetPolyData().GetPoints() if model is not None else None
    return (model, points.GetMTime() if points is not None else 0) if model is not None else ()
