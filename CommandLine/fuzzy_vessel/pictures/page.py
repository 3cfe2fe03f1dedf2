"""The page of a picture: colours, sizes in pixels, heading, panels, scale bar."""

from typing import Any

import numpy as np

PANEL, GAP, EDGE, HEAD, FOOT = 720, 10, 36, 108, 92  # pixels
PAPER, INK, FAINT_INK, EMPTY = "#10141a", "#ecf0f4", "#929fac", "#181e26"
# Of PNG, 0 to 9: half the seconds of the usual 6, and files larger by a twentieth.
COMPRESSION = 3
POINTS_PER_INCH = 72  # at this resolution a point of matplotlib is a pixel


def new_page(width: int, height: int) -> Any:
    """Return an empty matplotlib Figure of so many pixels; fonts and lines are in pixels, too."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    size = (width / POINTS_PER_INCH, height / POINTS_PER_INCH)
    figure = Figure(size, dpi=POINTS_PER_INCH, facecolor=PAPER)
    FigureCanvasAgg(figure)
    return figure


def headed_page(panels: tuple[int, int], title: str, subtitle: str, caption: str) -> Any:
    """Return a page with room for (rows, columns) of panels, with its texts."""
    rows, columns = panels
    width = 2 * EDGE + columns * PANEL + (columns - 1) * GAP
    height = HEAD + rows * PANEL + (rows - 1) * GAP + FOOT
    figure = new_page(width, height)
    text_at(figure, EDGE, 42, shortened(title, 78), INK, 31)
    text_at(figure, EDGE, 82, subtitle, FAINT_INK, 19)
    text_at(figure, EDGE, height - FOOT + 32, caption, INK, 20)
    return figure


def text_at(
    figure: Any, x: float, y: float, text: str, colour: str, size: float, **more: Any
) -> Any:
    """Write a text centred vertically at pixel (x, y), counted from the upper left corner."""
    width, height = page_size(figure)
    options = {"va": "center_baseline", "parse_math": False, **more}
    return figure.text(x / width, 1 - y / height, text, color=colour, fontsize=size, **options)


def page_size(figure: Any) -> tuple[int, int]:
    """Width and height in pixels."""
    width, height = figure.get_size_inches() * POINTS_PER_INCH
    return round(width), round(height)


def panel(figure: Any, row: int, column: int) -> Any:
    """Return the axes of a panel, without ticks and frame."""
    left = EDGE + column * (PANEL + GAP)
    top = HEAD + row * (PANEL + GAP)
    return axes_at(figure, left, top, PANEL, PANEL)


def axes_at(figure: Any, left: float, top: float, width: float, height: float) -> Any:
    """Return axes at pixels from the upper left corner of the page."""
    across, down = page_size(figure)
    place = (left / across, 1 - (top + height) / down, width / across, height / down)
    axes = figure.add_axes(place, facecolor=EMPTY, xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set_visible(False)
    return axes


def panel_text(axes: Any, x: float, y: float, text: str, size: float, **more: Any) -> None:
    """Write a text with an outline at pixels from the upper left corner of a panel."""
    from matplotlib.patheffects import withStroke

    axes.annotate(
        text,
        (0, 1),
        (x, -y),
        xycoords="axes fraction",
        textcoords="offset pixels",
        color=INK,
        fontsize=size,
        annotation_clip=False,
        parse_math=False,
        path_effects=[withStroke(linewidth=4, foreground=PAPER)],
        **{"ha": "left", "va": "center", **more},
    )


def scale_bar(axes: Any, mm_per_pixel: float) -> None:
    """Draw a bar of a round length (1, 2 or 5 times a power of ten) at the lower left."""
    longest = 0.3 * PANEL * mm_per_pixel
    lengths = [step * 10.0**power for power in range(-7, 4) for step in (1, 2, 5)]
    length = max(each for each in lengths if each <= longest)
    left, bottom = 18 / PANEL, 20 / PANEL
    right = left + length / mm_per_pixel / PANEL
    for colour, width in ((PAPER, 6), (INK, 3)):
        line = {"color": colour, "lw": width, "solid_capstyle": "butt"}
        axes.plot([left, right], [bottom, bottom], transform=axes.transAxes, **line)
    panel_text(axes, 18, PANEL - 38, length_text(length), 17)


def length_text(mm: float) -> str:
    """A round length with the unit that suits it: patients have cm, cells µm."""
    if mm >= 10:
        return f"{mm / 10:g} cm"
    return f"{mm:g} mm" if mm >= 0.1 else f"{mm * 1000:g} µm"


def patient_axes(axes: Any, view: dict) -> None:
    """Draw the patient's axes as a 3D view shows them, at the lower right."""
    length, letters_at = 38 / PANEL, 54 / PANEL
    x = y = 1 - 62 / PANEL
    y = 1 - y
    eye = np.array(view["eye"])
    for axis in np.argsort(eye):
        for sign, letter in ((1, "RAS"[axis]), (-1, "LPI"[axis])):
            direction = sign * np.eye(3)[axis]
            # Only the half that points to the viewer or across is drawn: three arms, no tangle.
            if direction @ eye < 0:
                continue
            across, upwards = direction @ view["right"], direction @ view["up"]
            ends = [x, x + length * across], [y, y + length * upwards]
            axes.plot(*ends, color=INK, lw=2.5, transform=axes.transAxes)
            panel_text(
                axes,
                (x + letters_at * across) * PANEL,
                (1 - y - letters_at * upwards) * PANEL,
                letter,
                17,
                ha="center",
            )


def show_3d(axes: Any, rendered: tuple[np.ndarray, dict] | None, name: str) -> None:
    """Show an image and its view of `offscreen.render`; None: there is none on this machine."""
    axes.set(xlim=(0, PANEL), ylim=(PANEL, 0))
    if rendered is None:
        axes.text(
            PANEL / 2, PANEL / 2, "no 3D view on this machine", color=FAINT_INK, fontsize=21,
            ha="center", va="center",
        )  # fmt: skip
        return
    image, view = rendered
    axes.imshow(image, extent=(0, PANEL, PANEL, 0), interpolation="none")
    panel_text(axes, 16, 24, f"{name} {view['name']}", 19)
    scale_bar(axes, 2 * view["half_height_mm"] / PANEL)
    patient_axes(axes, view)


def save(figure: Any, path: Any) -> None:
    """Write a page as PNG."""
    figure.savefig(path, format="png", pil_kwargs={"compress_level": COMPRESSION})


def pixels_of(figure: Any) -> np.ndarray:
    """Draw a page; return its pixels, uint8 of shape (height, width, 3)."""
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()


def shortened(text: str, count: int) -> str:
    """Return the text, without its middle where it has more letters than `count`."""
    if len(text) <= count:
        return text
    half = (count - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"
