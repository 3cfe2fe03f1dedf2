"""The picture of a segmentation: three slices and the surface in 3D."""

from typing import Any

import numpy as np

from . import page
from .grey_window import grey_window
from .offscreen import CannotRender
from .slices import BACKGROUND_SEED, SEED, VESSEL, choose_slices, draw_panel
from .subject import Oriented, Subject, box, oriented
from .surface_view import draw_surface

# Round the vessels, this share of their extent is shown as well, and at least so many mm.
MARGIN, MIN_MARGIN_MM, MIN_EXTENT_MM = 0.12, 12.0, 40.0
PLACES = ((0, 0), (1, 0), (1, 1))  # rows and columns of the axial, coronal and sagittal slice


def draw(
    subject: Subject, *, mean: float, sigma: float, title: str, subtitle: str, caption: str
) -> tuple[Any, list[str]]:
    """Draw the picture of a segmentation.

    Parameters
    ----------
    subject : Subject
    mean, sigma : float
        Intensities of the vessels, for the grey window.
    title, subtitle, caption : str
        The file; its size; what was found.

    Returns
    -------
    figure : matplotlib.figure.Figure
    warnings : list of str
        What had to be left out, and how to get it.
    """
    view = oriented(subject)
    figure = page.headed_page((2, 2), title, subtitle, caption)
    window = grey_window(view, mean, sigma)
    for shown, place in zip(choose_slices(view, *_region(view)), PLACES):
        draw_panel(page.panel(figure, *place), view, shown, window)
    surface, warnings = None, []
    try:
        surface = draw_surface(subject, page.PANEL, page.EMPTY)
    except CannotRender as reason:
        warnings.append(f"{reason}.")
    panel = page.panel(figure, 0, 1)
    page.show_3d(panel, surface, "Vessels")
    _name_vessels(panel, subject.vessels)
    _legend(figure, subject)
    return figure, warnings


def _region(view: Oriented) -> tuple[np.ndarray, np.ndarray]:
    """First and last voxel (S, A, R) of the vessels and seeds with a margin, within the volume."""
    low, high = box(view.labels, view.seeds)
    extent = (high - low + 1) * view.spacing
    margin = np.maximum(MIN_MARGIN_MM, MARGIN * extent.max())
    margin = np.maximum(margin, (MIN_EXTENT_MM - extent) / 2) / view.spacing
    last = np.array(view.volume.shape) - 1
    return np.maximum(0, low - margin), np.minimum(last, high + margin)


def _name_vessels(panel, vessels):
    """Name several vessels, in their colours, below the title of the 3D view."""
    for number, vessel in enumerate(vessels, 1):
        y = 24 + 32 * number
        panel.plot(24, y, "s", mfc=vessel.colour, mec=vessel.colour, ms=13)
        page.panel_text(panel, 42, y, page.shortened(vessel.name, 40), 18)


def _legend(figure, subject):
    from matplotlib.colors import to_rgba
    from matplotlib.lines import Line2D

    def entry(marker, face, edge, name):
        look = {"ls": "", "ms": 13, "mew": 2, "mfc": face, "mec": edge}
        return Line2D([], [], marker=marker, label=name, **look)

    entries = [
        entry("o", SEED, SEED, "seed"),
        entry("o", "none", SEED, "in another slice"),
    ]
    if not subject.vessels:
        entries.insert(0, entry("s", to_rgba(VESSEL, 0.26), VESSEL, "vessel"))
    if len(subject.background_seeds):
        entries.append(entry("o", BACKGROUND_SEED, BACKGROUND_SEED, "background seed"))
    width, height = page.page_size(figure)
    figure.legend(
        handles=entries, loc="center right", ncols=len(entries), frameon=False, fontsize=18,
        labelcolor=page.FAINT_INK, handletextpad=0.2, columnspacing=1.2, borderpad=0,
        borderaxespad=0, bbox_to_anchor=(1 - page.EDGE / width, (page.FOOT - 32) / height),
    )  # fmt: skip
