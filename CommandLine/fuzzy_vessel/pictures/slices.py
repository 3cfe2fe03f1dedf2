"""Slices with the vessels' outline and the seeds, in the radiologist's orientation."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.voxels.bounding_box import bounding_box, padded_box

from .page import PANEL, panel_text, scale_bar
from .subject import Oriented

VESSEL, SEED, BACKGROUND_SEED, RIM = "#ff4a3e", "#ffd166", "#4cc9f0", "#10141a"
FILL_OPACITY, LINE_WIDTH, SEED_RADIUS = 0.30, 2.2, 5.5  # lengths in pixels
# The outline is that of the labels on a finer grid, rounded by a Gaussian of so many voxels; the
# level keeps vessels of one voxel.
FINER, ROUNDING, OUTLINE_LEVEL = 4, 0.42, 0.42
AROUND = 3  # voxels round the labels, which the rounding does not reach beyond
# Name, axis of the normal, axes of rows (upwards) and columns (to the left) among S, A, R, and the
# letters at the left, right, top and bottom edge.
PLANES = (
    ("Axial", 0, 1, 2, "RLAP"),
    ("Coronal", 1, 0, 2, "RLSI"),
    ("Sagittal", 2, 0, 1, "APSI"),
)


@dataclass(frozen=True)
class Slice:
    """A slice of a volume and what of it is shown.

    Attributes
    ----------
    name : str
    letters : str
        Of the patient's sides at the left, right, top and bottom edge.
    normal, rows, columns : int
        Axes among S, A, R; rows grow upwards, columns to the left.
    position : int
        Index of the slice along its normal.
    centre : tuple of 2 float
        Shown in the middle: mm along columns and rows.
    extent : float
        mm that are shown across and down.
    """

    name: str
    letters: str
    normal: int
    rows: int
    columns: int
    position: int
    centre: tuple[float, float]
    extent: float

    @property
    def mm_per_pixel(self) -> float:
        """Of a panel of the page."""
        return self.extent / PANEL


def choose_slices(view: Oriented, low: np.ndarray, high: np.ndarray) -> list[Slice]:
    """Return the axial, coronal and sagittal slices through the seed that shows most vessel.

    Parameters
    ----------
    view : Oriented
    low, high : ndarray, (3,)
        First and last voxel S, A, R of what the slices shall show.
    """

    def vessel_seen(seed):
        return sum(
            np.count_nonzero(plane_of(view.labels, axis, at)) for axis, at in enumerate(seed)
        )

    focus = max(view.seeds, key=vessel_seen).astype(int)
    extent = float(((high - low + 1) * view.spacing).max())
    centre = (low + high) / 2 * view.spacing
    return [
        Slice(
            name, letters, normal, rows, columns, int(focus[normal]),
            (float(centre[columns]), float(centre[rows])), extent,
        )
        for name, normal, rows, columns, letters in PLANES
    ]  # fmt: skip


def draw_slice(axes: Any, view: Oriented, shown: Slice, window: tuple[float, float]) -> None:
    """Draw a slice into the axes of a panel.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    view : Oriented
    shown : Slice
    window : tuple of 2 float
        Intensities of black and white.
    """
    half = shown.extent / 2
    (x, y), black, white = shown.centre, *window
    axes.set(xlim=(x + half, x - half), ylim=(y - half, y + half), aspect="equal")
    sizes = [view.spacing[axis] for axis in (shown.columns, shown.rows)]
    plane = _plane(view.volume, shown)
    last = [step * (count - 0.5) for step, count in zip(sizes, plane.shape[::-1])]
    extent = (-sizes[0] / 2, last[0], -sizes[1] / 2, last[1])
    axes.imshow(
        plane, cmap="gray", vmin=black, vmax=max(white, black + 1e-12), extent=extent,
        origin="lower", interpolation="bicubic", interpolation_stage="data", aspect="equal",
    )  # fmt: skip
    axes.set(xlim=(x + half, x - half), ylim=(y - half, y + half))
    labels = _plane(view.labels, shown)
    for number, colour in enumerate([each.colour for each in view.vessels] or [VESSEL], 1):
        _draw_outline(axes, labels == number, extent, colour)
    _draw_seeds(axes, view, shown)


def draw_panel(axes: Any, view: Oriented, shown: Slice, window: tuple[float, float]) -> None:
    """Draw a slice with its name, the patient's sides and a scale bar."""
    draw_slice(axes, view, shown, window)
    panel_text(axes, 16, 24, shown.name, 19)
    middle, edge = PANEL / 2, 22
    places = ((edge, middle), (PANEL - edge, middle), (middle, edge), (middle, PANEL - edge))
    for letter, place in zip(shown.letters, places):
        panel_text(axes, *place, letter, 20, ha="center")
    scale_bar(axes, shown.mm_per_pixel)


def plane_of(volume: np.ndarray, axis: int, position: float) -> np.ndarray:
    """A slice of a volume, not copied: `take` copies a volume whose axes were turned as a whole."""
    return volume[(slice(None),) * axis + (int(position),)]


def _plane(volume, shown):
    """The voxels (rows, columns) of a slice."""
    plane = plane_of(volume, shown.normal, shown.position)
    return plane if shown.rows < shown.columns else plane.T


def _draw_outline(axes, labels, extent, colour):
    """Outline and fill of one vessel's labels, rounded a little."""
    from scipy import ndimage

    around = bounding_box(labels)
    if around is None:
        return
    box = padded_box(around, (AROUND, AROUND), labels.shape)
    fine = labels[box].astype(np.float32).repeat(FINER, axis=0).repeat(FINER, axis=1)
    fine = ndimage.gaussian_filter(fine, ROUNDING * FINER)
    left, right, bottom, top = extent
    sizes = (right - left) / labels.shape[1], (top - bottom) / labels.shape[0]
    places = [(side.start, side.stop) for side in box[::-1]]
    options = {
        "origin": "lower",
        "extent": (
            *(left + sizes[0] * place for place in places[0]),
            *(bottom + sizes[1] * place for place in places[1]),
        ),
    }
    axes.contourf(fine, [OUTLINE_LEVEL, 2], colors=[colour], alpha=FILL_OPACITY, **options)
    axes.contour(fine, [OUTLINE_LEVEL], colors=[colour], linewidths=LINE_WIDTH, **options)


def _draw_seeds(axes, view, shown):
    """Seeds of this slice as discs, seeds of other slices as faint rings."""
    step = view.spacing[shown.normal]
    marked = [(p, BACKGROUND_SEED) for p in view.background_seeds] + [(p, SEED) for p in view.seeds]
    for point, colour in marked:
        x, y = (point[axis] * view.spacing[axis] for axis in (shown.columns, shown.rows))
        if abs(point[shown.normal] - shown.position) * step <= max(1.0, step / 2):
            look = {"mfc": colour, "mec": RIM, "mew": 1.6, "ms": 2 * SEED_RADIUS, "zorder": 4}
        else:
            look = {"mfc": "none", "mec": colour, "mew": 1.2, "alpha": 0.6, "zorder": 3}
            look["ms"] = 1.6 * SEED_RADIUS
        axes.plot(x, y, "o", **look)
