"""The radius along the chosen branch."""

from typing import Any

from slicer.i18n import tr as _

from FuzzyVesselCoreLib.widgets.plots import CurvePlot
from PotentialSkeletonMRML.nodes.tables import distances


class RadiusPlot(CurvePlot):
    """A plot of one branch, or a hint how to choose one."""

    def show_branch(self, skeleton: Any, branch: int | None) -> None:
        """Show a branch of a `CurveSkeleton` by its number; None shows none."""
        if branch is None:
            self.show_hint(_("Click a branch to see its radius."))
            return
        curve = skeleton.branches[branch]
        self.show_curve(
            distances(curve, skeleton.spacing),
            curve.radius,
            _("Distance along branch {number} (mm)").format(number=branch),
            _("Radius (mm)"),
        )
