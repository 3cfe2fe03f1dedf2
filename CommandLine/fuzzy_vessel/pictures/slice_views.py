"""Slices with the vessels' outline and the seeds, in the radiologist's orientation."""

from dataclasses import dataclass

import numpy as np

VESSEL = (255, 74, 62)
SEED = (255, 209, 102)
BACKGROUND_SEED = (76, 201, 240)
RIM = (16, 20, 26)
NOTHING = (24, 30, 38)
# Drawn at this multiple of the final size, then averaged: smooth edges.
FINER = 2
FILL_OPACITY = 0.30
# The outline is rounded by a Gaussian of so many voxels; the level keeps vessels of one voxel.
ROUNDING, OUTLINE_LEVEL = 0.3, 0.42
LINE_WIDTH = 1.6
# Name, axis of the plane's normal, then rows and columns as (axis, does it grow downwards or
# to the right) among S, A, R; the letters at the left, right, top and bottom edge.
PLANES = (
    ("Axial", 0, (1, False), (2, False), "RLAP"),
    ("Coronal", 1, (0, False), (2, False), "RLSI"),
    ("Sagittal", 2, (0, False), (1, False), "APSI"),
)


@dataclass(frozen=True)
class SliceView:
    """A drawn slice.

    Attributes
    ----------
    name : str
    image : PIL.Image.Image
        Square.
    letters : str
        At the left, right, top and bottom edge.
    edges : tuple of 4 float
        Where the volume lies in the image: left, right, top, bottom, in pixels.
    position : int
        Index of the slice along its normal (S, A or R).
    mm_per_pixel : float
    """

    name: str
    image: object
    letters: str
    edges: tuple
    position: int
    mm_per_pixel: float


def draw_slices(view, low, high, window, size):
    """Draw the axial, coronal and sagittal slices through the seed that shows most vessel.

    Parameters
    ----------
    view : Oriented
    low, high : ndarray, (3,)
        First and last voxel S, A, R of what the slices shall show.
    window : tuple of 2 float
        Intensities of black and white.
    size : int
        Width and height of each in pixels.

    Returns
    -------
    list of SliceView
    """
    focus = _focus(view)
    extent = (high - low + 1) * view.spacing
    mm_per_pixel = float(extent.max()) / size
    centre = (low + high) / 2.0
    return [_draw(view, plane, focus, centre, mm_per_pixel, window, size) for plane in PLANES]


def grey_window(view, mean, sigma):
    """Intensities of black and white that set the vessels off from the tissue round them.

    White is a little above the vessels; black as far below the median of the surrounding tissue
    as a picture needs to show it in a middle grey, but never below the darkest voxels.

    Parameters
    ----------
    view : Oriented
    mean, sigma : float
        Intensities of the vessels.
    """
    from scipy import ndimage

    near = np.concatenate(
        [
            view.volume.take(int(place), axis)[
                ndimage.binary_dilation(view.labels.take(int(place), axis) > 0, iterations=12)
                & (view.labels.take(int(place), axis) == 0)
            ].ravel()
            for seed in view.seeds[:4]
            for axis, place in enumerate(seed)
        ]
    )
    white = mean + 2.5 * sigma
    tissue = float(np.median(near)) if near.size else float(np.median(view.volume))
    darkest = float(np.percentile(view.volume[::4, ::4, ::4], 0.5))
    if tissue >= mean:
        return darkest, float(np.percentile(view.volume[::4, ::4, ::4], 99.5))
    return max(darkest, tissue - 1.4 * (white - tissue)), white


def _focus(view):
    def vessel_seen(seed):
        return sum(
            np.count_nonzero(view.labels.take(int(place), axis)) for axis, place in enumerate(seed)
        )

    return max(view.seeds, key=vessel_seen).astype(int)


def _draw(view, plane, focus, centre, mm_per_pixel, window, size):
    from PIL import Image

    name, normal, rows, columns, letters = plane
    fine = size * FINER
    row_places = _places(view, rows, centre, mm_per_pixel / FINER, fine)
    column_places = _places(view, columns, centre, mm_per_pixel / FINER, fine)
    grid = (row_places, column_places)
    at = int(focus[normal])
    middles = tuple(places.reshape(size, FINER).mean(axis=1) for places in grid)
    grey = _sampled(view.volume.take(at, normal), middles, order=3)
    grey = grey.repeat(FINER, axis=0).repeat(FINER, axis=1)
    black, white = window
    grey = np.clip((grey - black) / max(white - black, 1e-12), 0, 1) * 255
    inside = _within(view, rows, row_places)[:, None] & _within(view, columns, column_places)
    vessel = _sampled(view.labels.take(at, normal), grid, order=1)
    voxel_pixels = [view.spacing[axis] * FINER / mm_per_pixel for axis in (rows[0], columns[0])]
    pixels = _overlaid(grey, vessel, inside, [ROUNDING * pixels for pixels in voxel_pixels])
    image = Image.fromarray(pixels.astype(np.uint8))
    _mark_seeds(image, view, plane, at, grid, mm_per_pixel / FINER)
    image = image.resize((size, size), Image.Resampling.BOX)
    edges = _edges(inside.any(axis=0)) + _edges(inside.any(axis=1))
    return SliceView(name, image, letters, edges, at, mm_per_pixel)


def _edges(inside):
    filled = np.flatnonzero(inside)
    if not filled.size:  # a volume much thinner than a pixel
        filled = np.array([inside.size // 2])
    return (filled[0] / FINER, (filled[-1] + 1) / FINER)


def _places(view, axis, centre, mm_per_pixel, count):
    """Voxel index along an axis for each pixel."""
    which, grows = axis
    offsets = (np.arange(count) - (count - 1) / 2) * mm_per_pixel / view.spacing[which]
    return centre[which] + (offsets if grows else -offsets)


def _within(view, axis, places):
    which, _ = axis
    return (places > -0.5) & (places < view.volume.shape[which] - 0.5)


def _sampled(plane, grid, order):
    """The slice's values at the pixels."""
    from scipy import ndimage

    places = np.meshgrid(*grid, indexing="ij")
    return ndimage.map_coordinates(plane.astype(np.float32), places, order=order, mode="nearest")


def _overlaid(grey, vessel, inside, rounding):
    from scipy import ndimage

    filled = (ndimage.gaussian_filter(vessel, rounding) > OUTLINE_LEVEL) & inside
    core = ndimage.binary_erosion(filled, iterations=max(1, round(LINE_WIDTH * FINER / 2)))
    rim = ndimage.binary_dilation(filled, iterations=max(1, round(LINE_WIDTH * FINER / 2))) & ~core
    opacity = np.where(rim & inside, 0.95, np.where(filled, FILL_OPACITY, 0.0))[..., None]
    pixels = grey[..., None] * (1 - opacity) + np.array(VESSEL) * opacity
    pixels[~inside] = NOTHING
    return pixels


def _mark_seeds(image, view, plane, at, grid, mm_per_pixel):
    """Seeds of this slice as discs, seeds of other slices as faint rings."""
    from PIL import ImageDraw

    _, normal, rows, columns, _ = plane
    draw = ImageDraw.Draw(image, "RGBA")
    radius = 5.5 * FINER
    marked = [(p, BACKGROUND_SEED) for p in view.background_seeds] + [(p, SEED) for p in view.seeds]
    marked.sort(key=lambda entry: abs(entry[0][normal] - at), reverse=True)
    for point, colour in marked:
        y, x = (
            (point[axis] - places[0]) / (places[1] - places[0])
            for axis, places in zip((rows[0], columns[0]), grid)
        )
        if abs(point[normal] - at) * view.spacing[normal] <= max(1.0, view.spacing[normal] / 2):
            disc = [x - radius, y - radius, x + radius, y + radius]
            draw.ellipse(disc, fill=colour, outline=RIM, width=round(1.6 * FINER))
        else:
            ring = radius * 0.8
            disc = [x - ring, y - ring, x + ring, y + ring]
            draw.ellipse(disc, outline=(*colour, 150), width=round(1.2 * FINER))
