"""Cross-sections of a vessel: area, largest and smallest diameter, holes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback
from FuzzyVesselCoreLib.translation import tr as _

from ..curve_skeleton import CurveSkeleton
from .measuring import check_grid, checked_branch, checked_place

SAMPLES_PER_VOXEL = 3
FIRST_REACH = 2.5  # radii to either side; doubled while the section reaches the sampled edge
MAX_REACH = 80.0  # mm
DIRECTIONS = 72  # of chords: one every 5 degrees, an even number
HARMONICS = 6  # of an outline; finer ones are the steps of the voxels
SECTION_COLUMNS = (
    "min_area_mm2", "mean_area_mm2", "inscribed_diameter_mm", "equivalent_diameter_mm",
    "largest_diameter_mm", "smallest_diameter_mm", "roundness", "filled_percent",
)  # fmt: skip


@dataclass(frozen=True)
class CrossSections:
    """Sections across a branch; arrays of n sections.

    A section is the part of the object in the plane across the branch that is connected with the
    branch's own place; what lies in a branch that it meets, by the power distances to the maximal
    balls of both, is left out. A diameter is a chord through the middle of the section's area,
    between its outermost borders, smoothed: the longest and the shortest chord of voxels would be
    too long and too short. On ellipses of 2 to 12 voxels half axis both are right to 0.45 voxels in
    the mean.
    """

    length: np.ndarray  # from the branch's first point, mm
    points: np.ndarray  # (n, 3), voxels K, J, I
    normals: np.ndarray  # (n, 3), unit vectors in mm along K, J, I
    area: np.ndarray  # mm^2, holes filled; 0 where the place itself is outside the object
    filled: np.ndarray  # mm^2 of that which are holes
    inscribed_diameter: np.ndarray  # of the maximal ball round the place, mm
    largest_ends: np.ndarray  # (n, 2, 3), ends of the largest diameter, voxels K, J, I
    smallest_ends: np.ndarray  # likewise
    largest_diameter: np.ndarray  # mm
    smallest_diameter: np.ndarray  # mm

    @property
    def equivalent_diameter(self) -> np.ndarray:
        """Of a circle of the same area, mm."""
        return 2 * np.sqrt(self.area / np.pi)

    @property
    def roundness(self) -> np.ndarray:
        """Smallest over largest diameter; 1 for a circle, NaN where there is no section."""
        with np.errstate(invalid="ignore"):
            return self.smallest_diameter / self.largest_diameter

    @property
    def minimal(self) -> int:
        """Index of the smallest section."""
        return int(self.area.argmin())


def cross_sections(
    mask: np.ndarray,
    skeleton: CurveSkeleton,
    branch: int,
    step: float | None = None,
    fill_holes: bool = True,
) -> CrossSections:
    """Cut an object across a branch.

    Parameters
    ----------
    mask : ndarray, (K, J, I)
        Not 0 in the object; its border is where the linear interpolation of the voxels is 1/2.
        `InputError` if it is not on the skeleton's grid.
    skeleton : CurveSkeleton
    branch : int
        Number of the branch.
    step : float, optional
        Between sections, mm; by default the smallest spacing. Both ends have a section.
    fill_holes : bool
        Count holes, such as calcium or unmixed contrast agent, as lumen.
    """
    checked_branch(skeleton, branch)
    check_grid(mask, skeleton)
    return _sections(mask != 0, skeleton, branch, step, fill_holes)


def section_at(
    mask: np.ndarray, skeleton: CurveSkeleton, place: ArrayLike, fill_holes: bool = True
) -> CrossSections:
    """The one section at the place on the skeleton nearest to a point (voxels K, J, I).

    `InputError` where the point is far from the tree or the mask not on the skeleton's grid.
    """
    check_grid(mask, skeleton)
    courses = [skeleton.course(branch) for branch in skeleton.branches]
    point = np.asarray(place, float) * np.asarray(skeleton.spacing)
    number, length = checked_place(courses, point)
    return _measured(mask != 0, skeleton, number, np.array([length]), fill_holes)


def section_measures(
    mask: np.ndarray,
    skeleton: CurveSkeleton,
    step: float | None = None,
    progress: Progress | ProgressCallback | None = None,
    fill_holes: bool = True,
) -> dict[str, list]:
    """Measure the cross-sections of every branch; parameters as for `cross_sections`.

    Returns
    -------
    dict of str to list
        One value a branch: min_area_mm2; the means mean_area_mm2, inscribed_diameter_mm (of the
        maximal ball), equivalent_diameter_mm (of the circle of the same area),
        largest_diameter_mm, smallest_diameter_mm, roundness (their ratio); and filled_percent, the
        share of all areas that are filled holes. Both ends are left out by as much as the radius
        there, as long as that leaves a section: at a junction the section is the parent's. None
        where no section lies in the object.
    """
    columns: dict[str, list] = {name: [] for name in SECTION_COLUMNS}
    check_grid(mask, skeleton)
    solid, root = mask != 0, Progress.of(progress)
    for number, branch in enumerate(skeleton.branches):
        found = _sections(solid, skeleton, number, step, fill_holes)
        last = found.length[-1]
        used = (found.length >= branch.radius[0]) & (found.length <= last - branch.radius[-1])
        if not used.any():
            used = np.arange(len(used)) == np.abs(found.length - last / 2).argmin()
        used &= found.area > 0
        values: list = [None] * len(SECTION_COLUMNS)
        if used.any():
            means = (
                found.area, found.inscribed_diameter, found.equivalent_diameter,
                found.largest_diameter, found.smallest_diameter, found.roundness,
            )  # fmt: skip
            values = [found.area[used].min(), *(each[used].mean() for each in means)]
            values.append(100 * found.filled[used].sum() / found.area[used].sum())
        for name, value in zip(SECTION_COLUMNS, values, strict=True):
            columns[name].append(value if value is None else float(value))
        root.advance((number + 1) / len(skeleton.branches))
    return columns


def _sections(
    solid: np.ndarray, skeleton: CurveSkeleton, number: int, step: float | None, filled: bool
) -> CrossSections:
    step = min(skeleton.spacing) if step is None else step
    if not 0 < step < np.inf:
        text = _("The step between sections must be above 0 mm, not {step}.")
        raise InputError(text.format(step=step))
    whole = skeleton.length(skeleton.branches[number])
    lengths = np.linspace(0, whole, max(int(np.ceil(whole / step)), 1) + 1)
    return _measured(solid, skeleton, number, lengths, filled)


def _balls(skeleton: CurveSkeleton, number: int) -> tuple[np.ndarray, int]:
    """The maximal balls of a branch, how many they are, and those of the branches that it meets."""
    own, at_node = skeleton.branches[number], skeleton.branches_at_nodes()
    met = {n for node in (own.start, own.end) for n in at_node[node]} - {number}
    branches = [own, *(skeleton.branches[n] for n in sorted(met))]
    points = np.concatenate([branch.points for branch in branches])
    squares = np.concatenate([branch.radius for branch in branches]) ** 2
    spacing = np.broadcast_to(skeleton.spacing, points.shape)
    return np.column_stack([points, spacing, squares]), len(own.points)


def _measured(
    solid: np.ndarray, skeleton: CurveSkeleton, number: int, lengths: np.ndarray, filled: bool
) -> CrossSections:
    spacing, course = np.asarray(skeleton.spacing), skeleton.course(skeleton.branches[number])
    balls = _balls(skeleton, number)

    def places_at(lengths: np.ndarray) -> np.ndarray:
        return np.stack([np.interp(lengths, course.lengths, c) for c in course.points.T], axis=1)

    places, radii = places_at(lengths), np.interp(lengths, course.lengths, course.radius)
    reach = radii.clip(min(spacing))  # to either side, over which the direction is taken
    along = places_at(lengths + reach) - places_at(lengths - reach)
    along[~along.any(axis=1)] = 1.0, 0.0, 0.0
    normals = along / np.linalg.norm(along, axis=1, keepdims=True)
    sides = np.cross(normals, np.eye(3)[np.abs(normals).argmin(axis=1)])
    sides /= np.linalg.norm(sides, axis=1, keepdims=True)
    planes = places, sides, np.cross(normals, sides), reach
    sections = [_section(solid, spacing, balls, *plane, filled) for plane in zip(*planes)]
    area, holes, largest, smallest = (np.array(each) for each in zip(*sections))
    diameters = (
        np.linalg.norm((ends[:, 1] - ends[:, 0]) * spacing, axis=1) for ends in (largest, smallest)
    )
    return CrossSections(
        lengths, places / spacing, normals, area, holes, 2 * radii, largest, smallest,
        *diameters,
    )  # fmt: skip


def _section(
    solid: np.ndarray, spacing: np.ndarray, balls: tuple[np.ndarray, int], place: np.ndarray,
    side: np.ndarray, up: np.ndarray, radius: float, filled: bool,
) -> tuple:  # fmt: skip
    """Area and holes (mm^2), and the ends of the largest and the smallest diameter (voxels)."""
    from scipy.ndimage import binary_fill_holes

    # It needs numba, without which panels open.
    from .section_kernels import INSIDE, chords, fill_section

    step, reach, at_edge = min(spacing) / SAMPLES_PER_VOXEL, FIRST_REACH * radius, True
    across, other = (each * step / spacing for each in (side, up))
    middle = place / spacing
    while at_edge and reach <= 2 * MAX_REACH:
        seen = np.zeros((2 * int(np.ceil(reach / step)) + 1,) * 2, np.uint8)
        at_edge = fill_section(solid, middle, across, other, *balls, seen)
        reach *= 2
    inside = seen == INSIDE
    count, half = np.count_nonzero(inside), len(inside) // 2
    if not count:
        return 0.0, 0.0, np.array([middle] * 2), np.array([middle] * 2)
    rows, columns = (np.flatnonzero(inside.any(axis=axis)) for axis in (1, 0))
    part = inside[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    if filled:
        part[...] = binary_fill_holes(part)
    whole = np.count_nonzero(part)
    centre = np.add(np.argwhere(part).mean(axis=0), (rows[0], columns[0]))
    outline = np.fft.rfft(chords(solid, inside, middle, across, other, centre, DIRECTIONS))
    outline[HARMONICS + 1 :] = 0
    reaches = np.fft.irfft(outline, DIRECTIONS)
    diameters = reaches[: DIRECTIONS // 2] + reaches[DIRECTIONS // 2 :]
    ends = []
    for n in (int(diameters.argmax()), int(diameters.argmin())):
        angle = 2 * np.pi * n / DIRECTIONS
        way = np.array([np.cos(angle), np.sin(angle)])
        both = (centre + reaches[n] * way, centre - reaches[n + DIRECTIONS // 2] * way)
        ends.append([middle + (r - half) * across + (c - half) * other for r, c in both])
    return whole * step**2, (whole - count) * step**2, *map(np.array, ends)
