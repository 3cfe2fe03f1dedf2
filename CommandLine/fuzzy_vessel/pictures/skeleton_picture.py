"""The picture of a skeleton: centrelines in the vessels, coloured by radius and by branch."""

from typing import Any

import numpy as np

from . import page
from .colour_map import colour_map, colours
from .subject import Subject
from .tube_view import Curves, draw_tubes

# The colours end at these percentiles of the points' radii, so that one bulge does not take all.
LOWEST, HIGHEST = 2, 98
# Where all radii are much the same, the colours still begin at this share of the largest.
EVEN = 0.7
BAR_WIDTH, BAR_HEIGHT = 330, 16


def draw(subject: Subject, skeleton: Any, *, title: str, subtitle: str, caption: str) -> Any:
    """Draw the picture of a skeleton.

    Parameters
    ----------
    subject : Subject
        The vessels that it is the skeleton of.
    skeleton : PotentialSkeletonLib.CurveSkeleton
        With at least one branch.
    title, subtitle, caption : str

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    CannotRender
        This machine cannot draw in 3D; the message says what to install.
    """
    low, high = _limits(np.concatenate([branch.radius for branch in skeleton.branches]))
    curves = Curves(
        points=[_to_ras(branch.points, subject.ijk_to_ras) for branch in skeleton.branches],
        radius=[branch.radius for branch in skeleton.branches],
        colours=[colours(branch.radius, low, high) for branch in skeleton.branches],
        branch_colours=[_of_branch(*each) for each in enumerate(skeleton.branches)],
        nodes=_to_ras(np.array([node.position for node in skeleton.nodes]), subject.ijk_to_ras),
    )
    rendered = draw_tubes(subject, curves, page.PANEL, page.EMPTY)
    figure = page.headed_page((1, 2), title, subtitle, caption)
    for column, (each, name) in enumerate(zip(rendered, ("Radii", "Branches"))):
        page.show_3d(page.panel(figure, 0, column), each, name)
    _colour_bar(figure, low, high)
    return figure


def _to_ras(points, ijk_to_ras):
    return points[:, ::-1] @ ijk_to_ras[:3, :3].T + ijk_to_ras[:3, 3]


def _of_branch(number, branch):
    """The branch's colour, which its curve has in Slicer, at each of its points."""
    from PotentialSkeletonMRML.markups import branch_color

    colour = np.rint(255 * np.array(branch_color(number))).astype(np.uint8)
    return np.tile(colour, (len(branch.points), 1))


def _limits(radius):
    """Radii of the first and the last colour."""
    low, high = np.percentile(radius, [LOWEST, HIGHEST])
    return float(min(low, EVEN * high)), float(high)


def _colour_bar(figure, low, high):
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.ticker import MaxNLocator

    width, height = page.page_size(figure)
    left, top = width - page.EDGE - 10 - BAR_WIDTH, height - page.FOOT + 22
    axes = page.axes_at(figure, left, top, BAR_WIDTH, BAR_HEIGHT)
    mapped = ScalarMappable(Normalize(low, high), colour_map())
    bar = figure.colorbar(mapped, cax=axes, orientation="horizontal", ticks=MaxNLocator(5))
    bar.outline.set_visible(False)
    bar.ax.tick_params(color=page.FAINT_INK, labelcolor=page.FAINT_INK, labelsize=17)
    texts = {"va": "center_baseline", "color": page.FAINT_INK, "fontsize": 18}
    bar.ax.text(-0.04, 0.5, "radius, mm", ha="right", transform=bar.ax.transAxes, **texts)
