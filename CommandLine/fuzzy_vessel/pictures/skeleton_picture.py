"""The picture of a skeleton: centrelines in the vessels, coloured by radius and by branch."""

import tempfile
from dataclasses import dataclass

import numpy as np

from .colour_map import colours
from .pictures import EDGE, FAINT_INK, FOOT, GAP, HEAD, INK, PANEL, font, headed_page, panel_in_3d
from .slice_views import NOTHING
from .tube_view import draw_tubes

BAR, BAR_HEIGHT = 330, 16
# The colours end at these shares of the points' radii, so that one bulge does not take them all.
LOWEST, HIGHEST = 2, 98
# Where all radii are much the same, the colours still begin at this share of the largest.
EVEN = 0.7


@dataclass(frozen=True)
class Curves:
    """Branches as they are drawn.

    Attributes
    ----------
    points : list of ndarray, (n, 3)
        RAS in mm.
    radius : list of ndarray, (n,)
        mm.
    colours : list of ndarray of uint8, (n, 3)
        Of the radii.
    branch_colours : list of ndarray of uint8, (n, 3)
    joints : ndarray, (m, 3)
        Ends and junctions, RAS in mm.
    """

    points: list
    radius: list
    colours: list
    branch_colours: list
    joints: np.ndarray


def draw(subject, skeleton, *, title, subtitle, caption):
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
    PIL.Image.Image

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
        joints=_to_ras(np.array([node.position for node in skeleton.nodes]), subject.ijk_to_ras),
    )
    background = tuple(channel / 255 for channel in NOTHING)
    with tempfile.TemporaryDirectory(prefix="fuzzy-vessel-") as folder:
        panels = draw_tubes(subject, curves, PANEL, folder, background)
    width, height = 2 * EDGE + 2 * PANEL + GAP, HEAD + PANEL + FOOT
    page, drawing = headed_page(width, height, title, subtitle)
    for panel, left, name in zip(panels, (EDGE, EDGE + PANEL + GAP), ("Radii", "Branches")):
        panel_in_3d(page, drawing, panel, (left, HEAD), name)
    drawing.text((EDGE, HEAD + PANEL + 18), caption, INK, font(23))
    _colour_bar(drawing, low, high, width - EDGE - 20, HEAD + PANEL + 22)
    return page


def _to_ras(points, ijk_to_ras):
    return points[:, ::-1] @ ijk_to_ras[:3, :3].T + ijk_to_ras[:3, 3]


def _of_branch(number, branch):
    """The branch's colour, which its curve has in Slicer, at each of its points."""
    from PotentialSkeletonMRML.nodes.curves import branch_color

    colour = np.rint(255 * np.array(branch_color(number))).astype(np.uint8)
    return np.tile(colour, (len(branch.points), 1))


def _limits(radius):
    """Radii of the first and the last colour."""
    low, high = np.percentile(radius, [LOWEST, HIGHEST])
    return float(min(low, EVEN * high)), float(high)


def _ticks(low, high):
    """Round numbers from low to high: three to six of them."""
    extent = high - low
    power = 10.0 ** np.floor(np.log10(extent / 2))
    step = next(power * n for n in (5, 2, 1, 0.5) if extent / (power * n) >= 2.5)
    return [round(n * step, 9) for n in range(int(np.ceil(low / step)), int(high / step) + 1)]


def _colour_bar(draw, low, high, right, top):
    left = right - BAR
    for pixel in range(BAR):
        colour = tuple(int(c) for c in colours(pixel / (BAR - 1), 0, 1))
        x = left + pixel
        draw.line([(x, top), (x, top + BAR_HEIGHT)], colour)
    draw.text((left - 14, top + BAR_HEIGHT / 2), "radius", FAINT_INK, font(20), anchor="rm")
    ticks = _ticks(low, high)
    for tick in ticks:
        x = left + (tick - low) / (high - low) * (BAR - 1)
        draw.line([(x, top + BAR_HEIGHT), (x, top + BAR_HEIGHT + 5)], FAINT_INK)
        name = f"{tick:g} mm" if tick == ticks[-1] else f"{tick:g}"
        draw.text((x, top + BAR_HEIGHT + 8), name, FAINT_INK, font(18), anchor="ma")
