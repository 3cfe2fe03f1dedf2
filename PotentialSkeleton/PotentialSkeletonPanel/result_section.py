"""What was found: a line, the branches, the radius along one of them, a legend and notes."""

from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from PotentialSkeletonMRML.branch_tools.names import NAMES
from PotentialSkeletonMRML.kept_result import kept_notes, tree_name
from PotentialSkeletonMRML.stored_skeleton import stored_skeleton, stored_tables

from .advice import next_step
from .branch_list import BranchList
from .highlight import Highlight
from .legend import Legend
from .radius_plot import RadiusPlot
from .summary_text import summary


class ResultSection:
    """Shows the trees of some models; a click on a branch shows it in the views.

    Attributes
    ----------
    models : list of vtkMRMLModelNode
        Whose branches are shown.
    advice : str
        What to do next with them.
    """

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._skeletons: list[Any] = []
        self._shown: tuple | None = None
        self.models: list[Any] = []
        self.advice = ""
        self._highlight = Highlight()
        self._branches = BranchList(self.ui.branchTable, self._on_rows)
        self._plot = RadiusPlot(self.ui.plotFrame)
        self._legend = Legend(self.ui.legendTitle, self.ui.legendFrame)

    @property
    def model(self) -> Any:
        """The model of the first chosen branch, else the first; None where none is shown."""
        chosen = self.all_chosen()
        return chosen[0][0] if chosen else next(iter(self.models), None)

    def chosen(self) -> tuple[Any, int] | None:
        """The model and the number of the chosen branch, or None where it is not one."""
        found = self.all_chosen()
        return found[0] if len(found) == 1 else None

    def all_chosen(self) -> list[tuple[Any, int]]:
        """The models and the numbers of all chosen branches."""
        places = (self._place(row) for row in self._branches.chosen())
        return [(self.models[place[0]], place[1]) for place in places if place is not None]

    def choose(self, branches: Iterable[tuple[Any, int]]) -> None:
        """Choose branches by model and number, as clicks on their rows do."""
        starts = [0, *accumulate(len(each.branches) for each in self._skeletons)]
        self._branches.choose(starts[self.models.index(m)] + number for m, number in branches)

    def show(self, models: list[Any], colouring: str) -> None:
        """Show the branches of models' lines, or nothing."""
        stamp = tuple(_stamp(model) for model in models)
        if stamp != self._shown:
            self._shown = stamp
            self._show_others(models)
        if self._skeletons:
            self._legend.show_colors(colouring, self.models[0])

    def show_way(self, model: Any, points: Any, radius: Any) -> None:
        """Show a way along a tree in the views, as a chosen branch; points are S, A, R."""
        self._highlight.show([(points[:, ::-1], radius)], model.GetTransformNodeID())

    def clear_choice(self) -> None:
        """Choose no branch, and show none in the views."""
        self.ui.branchTable.clearSelection()

    def forget(self) -> None:
        """The scene is being closed."""
        self._highlight.hide()
        self._skeletons, self._shown, self.models, self.advice = [], None, [], ""
        self.ui.resultArea.setVisible(False)

    def _show_others(self, models: list[Any]) -> None:
        self._highlight.hide()
        found = [stored_skeleton(model) for model in models]
        there = bool(found) and None not in found
        self._skeletons, self.models = (found, list(models)) if there else ([], [])
        self.ui.resultArea.setVisible(there)
        self.advice = ""
        if not there:
            return
        table = stored_tables(models)
        self.advice = next_step(table)
        self.ui.summaryLabel.text = summary(table)
        self._branches.fill(table)
        self._plot.show_branch(None, None)
        said = [text for model in models for text in _notes(model, several=len(models) > 1)]
        self.ui.notesText.plainText = "\n".join(f"\N{BULLET} {each}" for each in said)

    def _place(self, row: int) -> tuple[int, int] | None:
        """Number of the tree and of its branch for a row of the table."""
        for number, skeleton in enumerate(self._skeletons):
            if row < len(skeleton.branches):
                return number, row
            row -= len(skeleton.branches)
        return None

    def _on_rows(self, rows: list[int]) -> None:
        """Show the branches that were clicked; of several trees, those of the first."""
        places = [place for place in map(self._place, rows) if place is not None]
        if not places:
            self._highlight.hide()
        else:
            first = places[0][0]
            skeleton, model = self._skeletons[first], self.models[first]
            curves = [skeleton.branches[number] for tree, number in places if tree == first]
            ways = [(curve.points[:, ::-1], curve.radius) for curve in curves]
            self._highlight.show(ways, model.GetTransformNodeID())
        if len(places) == 1:
            self._plot.show_branch(skeleton, places[0][1])
        else:
            self._plot.show_branch(None, None)
        self._panel.on_branch_chosen()


def _notes(model: Any, several: bool) -> list[str]:
    said = kept_notes(model)
    return [f"{tree_name(model)}: {each}" for each in said] if several else said


def _stamp(model: Any) -> tuple:
    """Return what changes when a model gets other lines or names; colours change nothing of it."""
    points = model.GetPolyData().GetPoints()
    return (model, points.GetMTime() if points is not None else 0, model.GetAttribute(NAMES))
