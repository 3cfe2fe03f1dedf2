"""Pictures of results by matplotlib: slices with the vessels' outline, and views in 3D."""

from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.mrml.reading import transform_points, voxels_to_points
from FuzzyVesselCoreLib.voxels.masks import bounding_box, padded_box

from .rendering import CannotRender, framed, render

PANEL, GAP, EDGE, HEAD, FOOT = 720, 10, 36, 108, 92  # pixels
PAPER, INK, FAINT_INK, EMPTY = "#10141a", "#ecf0f4", "#929fac", "#181e26"
VESSEL, VESSEL_3D, SEED, BACKGROUND_SEED = "#ff4a3e", (0.78, 0.20, 0.17), "#ffd166", "#4cc9f0"
PIXEL = 72  # dots per inch: at this resolution a point of matplotlib is a pixel
# Round the vessels, this share of their extent is shown as well, and at least so many mm.
MARGIN, MIN_MARGIN_MM, MIN_EXTENT_MM = 0.12, 12.0, 40.0
# Name of a slice, its place on the page, axis of the normal, of rows (upwards) and of columns (to
# the left) among S, A, R, and letters at the left, right, top and bottom edge.
SLICES = (
    ("Axial", (0, 0), 0, 1, 2, "RLAP"),
    ("Coronal", (1, 0), 1, 0, 2, "RLSI"),
    ("Sagittal", (1, 1), 2, 0, 1, "APSI"),
)
# Name, direction to the eye and upwards (RAS), the extents that one sees (indices into R, A, S),
# and how much more another side must show: the front is what one knows best.
VIEWS = (
    ("from the front", (-0.30, 0.92, 0.24), (0, 0, 1), (0, 2), 1.6),
    ("from the left", (-0.92, 0.30, 0.24), (0, 0, 1), (1, 2), 1.0),
    ("from below", (-0.20, 0.24, -0.95), (0, 1, 0), (0, 1), 1.0),
)
# Beyond so many voxels of vessels, or in their box, only every second one along each axis is used.
MAX_VOXELS, MAX_IN_BOX = 1_500_000, 100_000_000
# Of radii: wider is lighter; even steps of lightness in OKLab, 0.58 to 0.93, from blue to yellow.
RADII = ("#4e78c7", "#3aa6cb", "#56cbb7", "#b5de7f", "#ffe887")


@dataclass(frozen=True)
class Subject:
    """One segmented volume (K, J, I); points are voxels K, J, I.

    `labels` are 1 in the vessels, or with several the number of each; `vessels` are then their
    names and colours.
    """

    volume: np.ndarray
    labels: np.ndarray
    ijk_to_ras: np.ndarray
    seeds: np.ndarray
    background_seeds: np.ndarray = field(default_factory=lambda: np.empty((0, 3), int))
    vessels: list[tuple[str, Any]] = field(default_factory=list)

    def oriented(self) -> "Subject":
        """The same along S, A, R, each growing in that direction; arrays are not copied.

        Axes that lie oblique keep their voxels; they are named after the nearest of the patient.
        """
        directions = self.ijk_to_ras[:3, :3][::-1, ::-1]  # columns K, J, I; rows S, A, R
        cosines = directions / np.linalg.norm(directions, axis=0)
        axes = max(permutations(range(3)), key=lambda order: abs(cosines[range(3), order]).sum())
        signs = np.sign(cosines[range(3), axes]).astype(int)
        last = np.array(self.volume.shape)[list(axes)] - 1

        def points(voxels):
            return np.where(signs < 0, last - voxels[:, axes], voxels[:, axes])

        turn = tuple(slice(None, None, sign) for sign in signs)
        volume, labels = (each.transpose(axes)[turn] for each in (self.volume, self.labels))
        matrix = np.eye(4)
        matrix[:3, :3] = (directions[:, axes] * signs)[::-1, ::-1]
        first = np.where(signs < 0, last, 0)[np.argsort(axes)]
        matrix[:3, 3] = voxels_to_points(first, self.ijk_to_ras)[0]
        seeds, background = points(self.seeds), points(self.background_seeds)
        return Subject(volume, labels, matrix, seeds, background, self.vessels)

    @property
    def spacing(self) -> np.ndarray:
        """Lengths of a voxel along K, J, I in mm."""
        return np.linalg.norm(self.ijk_to_ras[:3, :3], axis=0)[::-1]

    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """First and last voxel of the vessels and seeds along each axis."""
        low, high = self.seeds.min(axis=0), self.seeds.max(axis=0)
        for axis, side in enumerate(bounding_box(self.labels) or ()):
            low[axis], high[axis] = min(low[axis], side.start), max(high[axis], side.stop - 1)
        return low, high


def segmentation_picture(subject: Subject, texts: tuple[str, str, str]) -> tuple[Any, list[str]]:
    """Draw three slices and the surface in 3D; returns matplotlib's figure, and warnings.

    The texts are the title, the line below it, and the line below the picture.
    """
    subject = subject.oriented()
    figure, panels = _page(2, 2, texts)
    _draw_slices(panels, subject, _grey_window(subject))
    warnings, rendered = [], None
    labels, matrix, corners = _reduced(subject)
    side = framed(_sides(corners)[0], corners, 1.04)
    place = subject.ijk_to_ras
    arrays = {
        "labels": labels, "matrix": matrix, "seeds": voxels_to_points(subject.seeds, place),
        "background_seeds": voxels_to_points(subject.background_seeds, place),
        "colours": np.array([colour for _, colour in subject.vessels] or [VESSEL_3D]),
    }  # fmt: skip
    try:
        rendered = render(arrays, [side], PANEL, EMPTY)[0]
    except CannotRender as reason:
        warnings.append(f"{reason}.")
    panel = panels[0, 1]
    _show_3d(panel, rendered, side, "Vessels")
    for number, (name, colour) in enumerate(subject.vessels, 1):
        panel.plot(24, 24 + 32 * number, "s", mfc=colour, mec=colour, ms=13)
        _text(panel, 42, 24 + 32 * number, _shortened(name, 40), 18)
    _legend(figure, subject)
    return figure, warnings


def skeleton_picture(subject: Subject, skeleton: Any, texts: tuple[str, str, str]) -> Any:
    """Draw a skeleton in the vessels, coloured by radius and by branch, from two sides."""
    from matplotlib.colors import LinearSegmentedColormap

    from PotentialSkeletonMRML.lines import branch_color

    branches, place = skeleton.branches, subject.ijk_to_ras
    points = voxels_to_points(np.concatenate([branch.points for branch in branches]), place)
    radius = np.concatenate([branch.radius for branch in branches])
    counts = np.array([len(branch.points) for branch in branches])
    # One bulge does not take all colours, and even radii do not get all of them.
    low, high = np.percentile(radius, [2, 98])
    low = min(low, 0.7 * high)
    radii = LinearSegmentedColormap.from_list("radius", RADII)
    by_radius = radii(np.clip((radius - low) / max(high - low, 1e-12), 0, 1), bytes=True)[:, :3]
    each = np.rint([255 * np.array(branch_color(n)) for n in range(len(branches))])
    by_branch = np.repeat(each.astype(np.uint8), counts, axis=0)
    labels, matrix, corners = _reduced(subject.oriented())
    walls = [points + 1.4 * radius[:, None] * step for step in np.vstack([np.eye(3), -np.eye(3)])]
    views = [framed(side, np.concatenate(walls), 1.10) for side in _sides(corners)[:2]]
    nodes = voxels_to_points([node.position for node in skeleton.nodes], place)
    arrays = {
        "labels": labels, "matrix": matrix, "points": points, "counts": counts, "radius": radius,
        "colours": np.array([by_radius, by_branch]), "nodes": nodes,
    }  # fmt: skip
    rendered = render(arrays, views, PANEL, EMPTY)
    figure, panels = _page(1, 2, texts)
    for panel, image, view, name in zip(panels[0], rendered, views, ("Radii", "Branches")):
        _show_3d(panel, image, view, name)
    _colour_bar(figure, radii, float(low), float(high))
    return figure


def save(figure: Any, path: Any) -> None:
    """Write a page as PNG; less packed than usual, in half the time."""
    figure.savefig(path, format="png", pil_kwargs={"compress_level": 3})


# The page.


def _page(rows, columns, texts):
    """A page with its texts, and its panels (rows, columns); fonts and lines are in pixels."""
    from matplotlib.figure import Figure

    width = 2 * EDGE + columns * PANEL + (columns - 1) * GAP
    height = HEAD + rows * PANEL + (rows - 1) * GAP + FOOT
    figure = Figure((width / PIXEL, height / PIXEL), dpi=PIXEL, facecolor=PAPER)
    title, subtitle, caption = texts
    for y, text, colour, size in (
        (42, _shortened(title, 78), INK, 31),
        (82, subtitle, FAINT_INK, 19),
        (height - FOOT + 32, caption, INK, 20),
    ):
        figure.text(
            EDGE / width, 1 - y / height, text, color=colour, fontsize=size, parse_math=False,
            va="center_baseline",
        )  # fmt: skip
    panels = figure.subplots(
        rows, columns, squeeze=False,
        subplot_kw={"facecolor": EMPTY, "xticks": [], "yticks": []},
        gridspec_kw={
            "left": EDGE / width, "right": 1 - EDGE / width, "top": 1 - HEAD / height,
            "bottom": FOOT / height, "wspace": GAP / PANEL, "hspace": GAP / PANEL,
        },
    )  # fmt: skip
    for panel in panels.flat:
        panel.spines[:].set_visible(False)
    return figure, panels


def _text(axes, x, y, text, size, ha="left"):
    """Write a text with an outline at pixels from the upper left corner of a panel."""
    from matplotlib.patheffects import withStroke

    axes.annotate(
        text, (0, 1), (x, -y), xycoords="axes fraction", textcoords="offset pixels", color=INK,
        fontsize=size, annotation_clip=False, parse_math=False, ha=ha, va="center",
        path_effects=[withStroke(linewidth=4, foreground=PAPER)],
    )  # fmt: skip


def _scale_bar(axes, mm_per_pixel):
    """A bar of a round length (1, 2 or 5 times a power of ten) at the lower left."""
    lengths = [step * 10.0**power for power in range(-7, 4) for step in (1, 2, 5)]
    mm = max(each for each in lengths if each <= 0.3 * PANEL * mm_per_pixel)
    ends = [18 / PANEL, 18 / PANEL + mm / mm_per_pixel / PANEL]
    for colour, width in ((PAPER, 6), (INK, 3)):
        line = {"color": colour, "lw": width, "solid_capstyle": "butt"}
        axes.plot(ends, [20 / PANEL] * 2, transform=axes.transAxes, **line)
    short = f"{mm:g} mm" if mm >= 0.1 else f"{mm * 1000:g} µm"
    _text(axes, 18, PANEL - 38, f"{mm / 10:g} cm" if mm >= 10 else short, 17)


def _legend(figure, subject):
    from matplotlib.colors import to_rgba
    from matplotlib.lines import Line2D

    entries = [("o", SEED, SEED, "seed"), ("o", "none", SEED, "in another slice")]
    if not subject.vessels:
        entries.insert(0, ("s", to_rgba(VESSEL, 0.26), VESSEL, "vessel"))
    if len(subject.background_seeds):
        entries.append(("o", BACKGROUND_SEED, BACKGROUND_SEED, "background seed"))
    width, height = figure.get_size_inches() * PIXEL
    figure.legend(
        handles=[
            Line2D([], [], marker=mark, mfc=face, mec=edge, label=name, ls="", ms=13, mew=2)
            for mark, face, edge, name in entries
        ],
        loc="center right", ncols=len(entries), frameon=False, fontsize=18, borderaxespad=0,
        labelcolor=FAINT_INK, handletextpad=0.2, columnspacing=1.2, borderpad=0,
        bbox_to_anchor=(1 - EDGE / width, (FOOT - 32) / height),
    )  # fmt: skip


def _colour_bar(figure, radii, low, high):
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    width, height = figure.get_size_inches() * PIXEL
    place = ((width - EDGE - 340) / width, (FOOT - 38) / height, 330 / width, 16 / height)
    axes = figure.add_axes(place)
    bar = figure.colorbar(
        ScalarMappable(Normalize(low, high), radii), axes, orientation="horizontal"
    )
    bar.outline.set_visible(False)
    axes.locator_params(axis="x", nbins=5)
    axes.tick_params(color=FAINT_INK, labelcolor=FAINT_INK, labelsize=17)
    look = {"va": "center_baseline", "color": FAINT_INK, "fontsize": 18}
    axes.text(-0.04, 0.5, "radius, mm", ha="right", transform=axes.transAxes, **look)


def _shortened(text, count):
    """The text, without its middle where it has more letters than `count`."""
    half = (count - 5) // 2
    return text if len(text) <= count else f"{text[:half]} ... {text[-half:]}"


# Slices, in the radiologist's orientation.


def _grey_window(view):
    """Intensities of black and white that set the vessels off from surrounding tissue.

    White is a little above most of the vessels; black as far below the median of the tissue in
    their box as a picture needs to show it in a middle grey, but never below the darkest voxels.
    """
    box = tuple(slice(low, high + 1) for low, high in zip(*view.box()))
    inside, region = view.labels[box] > 0, view.volume[box]
    darkest, brightest = np.percentile(view.volume[::4, ::4, ::4], [0.5, 99.5])
    if inside.any() and not inside.all():
        tissue, white = np.median(region[~inside]), np.percentile(region[inside], 97)
        if tissue < white:
            return max(darkest, tissue - 1.4 * (white - tissue)), white
    return darkest, brightest


def _draw_slices(panels, view, window):
    """The slices through the seed that shows most vessel, round vessels and seeds."""
    (low, high), spacing = view.box(), view.spacing
    extent = (high - low + 1) * spacing
    margin = np.maximum(MIN_MARGIN_MM, MARGIN * extent.max())
    margin = np.maximum(margin, (MIN_EXTENT_MM - extent) / 2) / spacing
    low = np.maximum(0, low - margin)
    high = np.minimum(np.array(view.volume.shape) - 1, high + margin)
    half, centre = ((high - low + 1) * spacing).max() / 2, (low + high) / 2 * spacing

    def seen(seed):
        return sum(
            np.count_nonzero(np.moveaxis(view.labels, axis, 0)[n]) for axis, n in enumerate(seed)
        )

    focus = max(view.seeds, key=seen)
    for name, place, normal, rows, columns, letters in SLICES:
        axes = panels[place]
        planes = [
            np.moveaxis(each, normal, 0)[focus[normal]] for each in (view.volume, view.labels)
        ]
        planes = planes if rows < columns else [plane.T for plane in planes]
        _draw_slice(axes, *planes, spacing[[columns, rows]], window, view.vessels)
        _draw_seeds(axes, view, normal, rows, columns, focus[normal])
        x, y = centre[columns], centre[rows]
        axes.set(xlim=(x + half, x - half), ylim=(y - half, y + half))
        _text(axes, 16, 24, name, 19)
        middle, far = PANEL / 2, PANEL - 22
        for letter, at in zip(letters, ((22, middle), (far, middle), (middle, 22), (middle, far))):
            _text(axes, *at, letter, 20, ha="center")
        _scale_bar(axes, 2 * half / PANEL)


def _draw_slice(axes, plane, labels, sizes, window, vessels):
    """Intensities, and outline and fill of the vessels, rounded a little."""
    from scipy import ndimage

    black, white = window
    across, up = sizes

    def extent(low, high):
        return [across * (low[1] - 0.5), across * (high[1] - 0.5), up * (low[0] - 0.5),
                up * (high[0] - 0.5)]  # fmt: skip

    axes.imshow(
        plane, cmap="gray", vmin=black, vmax=max(white, black + 1e-12), origin="lower",
        extent=extent((0, 0), plane.shape), interpolation="bicubic", interpolation_stage="data",
        aspect="equal",
    )  # fmt: skip
    for number, colour in enumerate([colour for _, colour in vessels] or [VESSEL], 1):
        around = bounding_box(labels == number)
        if around is None:
            continue
        box = padded_box(around, (3, 3), labels.shape)
        # On a finer grid, rounded by a Gaussian; the level keeps vessels of one voxel.
        fine = np.kron(labels[box] == number, np.ones((4, 4), np.float32))
        fine = ndimage.gaussian_filter(fine, 0.42 * 4)
        place = extent(*zip(*((side.start, side.stop) for side in box)))
        options = {"origin": "lower", "extent": place, "colors": [colour]}
        axes.contourf(fine, [0.42, 2], alpha=0.30, **options)
        axes.contour(fine, [0.42], linewidths=2.2, **options)


def _draw_seeds(axes, view, normal, rows, columns, position):
    """Seeds of this slice as discs, seeds of other slices as faint rings."""
    spacing = view.spacing
    step = spacing[normal]
    marked = [(p, BACKGROUND_SEED) for p in view.background_seeds] + [(p, SEED) for p in view.seeds]
    for point, colour in marked:
        if abs(point[normal] - position) * step <= max(1.0, step / 2):
            look = {"mfc": colour, "mec": PAPER, "mew": 1.6, "ms": 11, "zorder": 4}
        else:
            look = {"mfc": "none", "mec": colour, "mew": 1.2, "alpha": 0.6, "zorder": 3, "ms": 8.8}
        axes.plot(point[columns] * spacing[columns], point[rows] * spacing[rows], "o", **look)


# Views in 3D.


def _reduced(subject):
    """Labels round vessels and seeds, coarser where there are many; IJK to RAS, and corners."""
    low, high = subject.box()
    labels = subject.labels[tuple(slice(a, b + 1) for a, b in zip(low, high))]
    step = 2 if labels.size > MAX_IN_BOX or np.count_nonzero(labels) > MAX_VOXELS else 1
    matrix = np.array(subject.ijk_to_ras, float)
    matrix[:3, 3] += matrix[:3, :3] @ low[::-1]
    matrix[:3, :3] *= step
    labels = labels[::step, ::step, ::step]
    corners = np.indices((2, 2, 2)).reshape(3, -1).T * (np.array(labels.shape[::-1]) - 1)
    return labels, matrix, transform_points(matrix, corners)


def _sides(points):
    """The `VIEWS` of points (n, 3; RAS), the one that shows most first."""
    extent = np.ptp(points, axis=0)
    return sorted(VIEWS, key=lambda view: -extent[list(view[3])].prod() * view[4])


def _show_3d(axes, image, view, name):
    """An image of `render` with scale and the patient's axes; None where it cannot be drawn."""
    axes.set(xlim=(0, PANEL), ylim=(PANEL, 0))
    if image is None:
        text = "no 3D view on this machine"
        axes.text(PANEL / 2, PANEL / 2, text, color=FAINT_INK, fontsize=21, ha="center")
        return
    axes.imshow(image, extent=(0, PANEL, PANEL, 0), interpolation="none")
    _text(axes, 16, 24, f"{name} {view['name']}", 19)
    _scale_bar(axes, 2 * view["half_height_mm"] / PANEL)
    at, eye = PANEL - 62, np.array(view["eye"])
    for axis in np.argsort(eye):
        # Only the half that points to the viewer or across is drawn: three arms, no tangle.
        sign = -1 if eye[axis] < 0 else 1
        direction = sign * np.eye(3)[axis]
        across, down = direction @ view["right"], -(direction @ view["up"])
        axes.plot([at, at + 38 * across], [at, at + 38 * down], color=INK, lw=2.5)
        letter = ("RAS" if sign > 0 else "LPI")[axis]
        _text(axes, at + 54 * across, at + 54 * down, letter, 17, ha="center")
