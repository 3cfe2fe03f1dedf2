"""The section Branch tools: it follows the tree and the branch that are chosen."""

from collections.abc import Callable
from typing import Any

from FuzzyVesselCoreLib.errors import FuzzyVesselError
from FuzzyVesselCoreLib.widgets.module_panel import PROBLEM_STYLE
from PotentialSkeletonMRML.branch_tools import Tree

from .chosen_branch import ChosenBranch
from .click_tools import ClickTools
from .divide_tools import DivideTools
from .format_tools import FormatTools
from .step_tools import StepTools


class BranchTools:
    """Tools for the tree of the chosen branch, or of the first one that is shown.

    Parameters
    ----------
    panel : SkeletonPanel
    """

    def __init__(self, panel: Any) -> None:
        self.panel = panel
        self._window, self.ui = panel.load_ui("PotentialSkeletonBranchTools")
        panel.ui.branchToolsSection.layout().addWidget(self._window)
        self._shown: tuple = ()
        self._branch = ChosenBranch(self)
        self._steps = StepTools(self)
        self._clicks = ClickTools(self)
        self._dividing = DivideTools(self)
        self._formats = FormatTools(self)

    def tree(self) -> Tree | None:
        """The tree that the tools work on, or None."""
        model = self.panel.result.model
        return None if model is None else Tree(model)

    def chosen(self) -> tuple[Tree, int] | None:
        """The tree and the number of the chosen branch, or None."""
        found = self.panel.result.chosen()
        return found and (Tree(found[0]), found[1])

    def all_chosen(self) -> list[tuple[Any, int]]:
        """The models and the numbers of all chosen branches."""
        return self.panel.result.all_chosen()

    def tree_of(self, model: Any) -> Tree | None:
        """The tree of a model that is still shown, or None."""
        return Tree(model) if model in self.panel.result.models else None

    def attempt(self, act: Callable[[], str]) -> None:
        """Do something at once, and say what it did or why it could not be done."""
        if self.panel.running.busy:
            self.say(self.panel.running.why_busy(), problem=True)
            return
        try:
            said = act()
        except FuzzyVesselError as error:
            self.say(str(error), problem=True)
        else:
            self.say(said)
        self.panel.update()

    def start(self, work: Callable[[Any], str]) -> None:
        """Let a run do something; ``work(progress)`` returns what there is to say of it."""

        def run(_parameters: Any, progress: Any) -> str:
            said = work(progress)
            self.say(said)
            return said

        self.panel.start(run)

    def say(self, text: str, problem: bool = False) -> None:
        """Say something beside the tools."""
        self.ui.toolLabel.text = text
        self.ui.toolLabel.styleSheet = PROBLEM_STYLE if problem else ""
        self.ui.toolLabel.setVisible(bool(text))

    def show(self) -> None:
        """Show what follows from the tree that there is."""
        models = self.panel.result.models
        drawable = [each for each in models if each.GetPolyData().GetNumberOfLines()]
        self.panel.ui.branchToolsSection.setVisible(bool(drawable))
        self._window.enabled = not self.panel.running.busy
        if not drawable:
            self._clicks.end()
            return
        if models != self._shown:
            self._shown = models
            self._clicks.end()
            self.say("")
        for part in (self._branch, self._steps, self._dividing):
            part.show()

    def exit(self) -> None:
        """The panel is left, or the scene closed."""
        self._clicks.end()
        self._shown = ()
        self.say("")
