"""One picture of a segmentation: three slices and the surface, with what one needs to read them."""

import tempfile

import numpy as np

from ..subject import box, oriented
from .slice_views import BACKGROUND_SEED, NOTHING, SEED, VESSEL, draw_slices, grey_window
from .surface_view import CannotRender, draw_surface

PANEL = 720
GAP = 10
EDGE = 36
HEAD = 108
FOOT = 92
PAPER = (16, 20, 26)
INK = (236, 240, 244)
FAINT_INK = (146, 159, 172)
# Round the vessels, this share of their extent is shown as well, and at least so many mm.
MARGIN, LEAST_MARGIN_MM = 0.12, 12.0
LEAST_EXTENT_MM = 40.0
# Beside the slice a letter needs so many pixels; else it stands within the slice.
ROOM = 40


def draw(subject, *, mean, sigma, title, subtitle, caption):
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
    image : PIL.Image.Image
    warnings : list of str
        What had to be left out, and how to get it.
    """
    view = oriented(subject)
    low, high = _region(view)
    slices = draw_slices(view, low, high, grey_window(view, mean, sigma), PANEL)
    warnings = []
    try:
        background = tuple(channel / 255 for channel in NOTHING)
        with tempfile.TemporaryDirectory(prefix="fuzzy-vessel-") as folder:
            surface = draw_surface(subject, PANEL, folder, background)
    except CannotRender as reason:
        surface = None
        warnings.append(f"{reason}.")
    return _laid_out(slices, surface, subject, title, subtitle, caption), warnings


def _region(view):
    """First and last voxel (S, A, R) of the vessels and seeds with a margin, within the volume."""
    low, high = box(view.labels, view.seeds)
    extent = (high - low + 1) * view.spacing
    margin = np.maximum(LEAST_MARGIN_MM, MARGIN * extent.max())
    margin = np.maximum(margin, (LEAST_EXTENT_MM - extent) / 2) / view.spacing
    last = np.array(view.volume.shape) - 1
    return np.maximum(0, low - margin), np.minimum(last, high + margin)


def headed_page(width, height, title, subtitle):
    """A page with its heading, and what draws on it."""
    from PIL import Image, ImageDraw

    page = Image.new("RGB", (width, height), PAPER)
    draw = ImageDraw.Draw(page, "RGBA")
    draw.text((EDGE, 26), _shortened(draw, title, font(34), width - 2 * EDGE), INK, font(34))
    draw.text((EDGE, 70), subtitle, FAINT_INK, font(21))
    return page, draw


def _laid_out(slices, surface, subject, title, subtitle, caption):
    width = 2 * EDGE + 2 * PANEL + GAP
    height = HEAD + 2 * PANEL + GAP + FOOT
    page, draw = headed_page(width, height, title, subtitle)
    axial, coronal, sagittal = slices
    right, below = EDGE + PANEL + GAP, HEAD + PANEL + GAP
    for panel, place in (
        (axial, (EDGE, HEAD)),
        (coronal, (EDGE, below)),
        (sagittal, (right, below)),
    ):
        _slice_panel(page, draw, panel, place)
    panel_in_3d(page, draw, surface, (right, HEAD), "Vessels")
    _legend(draw, len(subject.background_seeds), width - EDGE, height - FOOT + 20)
    draw.text((EDGE, height - FOOT + 18), caption, INK, font(23))
    return page


def _shortened(draw, text, kind, width):
    """The text, without its middle where it is too long."""
    shown, kept = text, len(text)
    while kept > 2 and draw.textlength(shown, kind) > width:
        kept -= 1
        shown = f"{text[: (kept + 1) // 2]} ... {text[len(text) - kept // 2 :]}"
    return shown


def _slice_panel(page, draw, panel, place):
    left, top = place
    page.paste(panel.image, place)
    draw.text((left + 16, top + 12), panel.name, INK, font(20), **OUTLINE)
    west, east, north, south = panel.letters
    first, last, upper, lower = panel.edges
    across, down = (first + last) / 2, (upper + lower) / 2
    for letter, x, y, anchor in (
        (west, first - 22 if first > ROOM else 22, down, "mm"),
        (east, last + 22 if last < PANEL - ROOM else PANEL - 22, down, "mm"),
        (north, across, upper - 22 if upper > ROOM else 22, "mm"),
        (south, across, lower + 22 if lower < PANEL - ROOM else PANEL - 22, "mm"),
    ):
        draw.text((left + x, top + y), letter, INK, font(22), anchor=anchor, **OUTLINE)
    _scale_bar(draw, left, top, panel.mm_per_pixel)


def panel_in_3d(page, draw, surface, place, name):
    """Place an image and its view from `surface_view` or `tube_view`; None says there is none."""
    left, top = place
    if surface is None:
        draw.rectangle([left, top, left + PANEL - 1, top + PANEL - 1], NOTHING)
        middle = (left + PANEL / 2, top + PANEL / 2)
        draw.text(middle, "no 3D view on this machine", FAINT_INK, font(22), anchor="mm")
        return
    image, view = surface
    page.paste(image, place)
    draw.text((left + 16, top + 12), f"{name} {view['name']}", INK, font(20))
    _scale_bar(draw, left, top, 2 * view["half_height_mm"] / PANEL)
    _axes(draw, view, left + PANEL - 62, top + PANEL - 62)


def _axes(draw, view, x, y):
    """A small cross of the patient's axes, as the 3D view shows them."""
    length = 38
    eye = np.array(view["eye"])
    for axis in np.argsort(eye):
        for sign, letter in ((1, "RAS"[axis]), (-1, "LPI"[axis])):
            direction = np.zeros(3)
            direction[axis] = sign
            # Only the half that points to the viewer or across is drawn: three arms, no tangle.
            if direction @ eye < 0:
                continue
            across, upwards = direction @ view["right"], direction @ view["up"]
            end = (x + length * across, y - length * upwards)
            draw.line([(x, y), end], INK, 3)
            tip = (x + (length + 16) * across, y - (length + 16) * upwards)
            draw.text(tip, letter, INK, font(18), anchor="mm")


def _scale_bar(draw, left, top, mm_per_pixel):
    room = 0.3 * PANEL * mm_per_pixel
    length = max(
        step * 10.0**power
        for power in range(-2, 4)
        for step in (1, 2, 5)
        if step * 10.0**power <= room
    )
    x, y = left + 18, top + PANEL - 20
    end = x + length / mm_per_pixel
    draw.line([(x, y), (end, y)], PAPER, 6)
    draw.line([(x, y), (end, y)], INK, 3)
    name = f"{length / 10:g} cm" if length >= 10 else f"{length:g} mm"
    draw.text((x, y - 10), name, INK, font(18), anchor="ls", **OUTLINE)


def _legend(draw, background_seeds, right, y):
    entries = [
        ("vessel", VESSEL, "line"),
        ("seed", SEED, "disc"),
        ("in another slice", SEED, "ring"),
    ]
    if background_seeds:
        entries.append(("background seed", BACKGROUND_SEED, "disc"))
    x = right
    for name, colour, shape in reversed(entries):
        x -= draw.textlength(name, font(20))
        draw.text((x, y), name, FAINT_INK, font(20))
        x -= 24
        box = [x, y + 6, x + 14, y + 20]
        if shape == "line":
            draw.rectangle(box, (*colour, 66), colour, 2)
        else:
            draw.ellipse(box, colour if shape == "disc" else None, colour, 2)
        x -= 26


OUTLINE = {"stroke_width": 2, "stroke_fill": PAPER}


def font(size):
    """Pillow's own font, so that the picture looks alike on every machine."""
    from PIL import ImageFont

    return ImageFont.load_default(size)
