"""Cross-sections of an object along a branch: area, and both kinds of diameter.

A section is the part of the object in the plane across the branch that is connected with the
branch's own place. Its area-equivalent diameter is that of a circle of the same area; the
inscribed diameter is that of the maximal ball round the place.
"""

from dataclasses import dataclass

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _

from ..graph.curve_skeleton import CurveSkeleton
from ..graph.lines import Course

SAMPLES_PER_VOXEL = 3
FIRST_REACH = 2.5  # radii to either side; doubled while the section reaches the sampled edge
MAX_REACH = 80.0
TANGENT_REACH = 1.0  # radii to either side over which the direction is taken


@dataclass(frozen=True)
class CrossSections:
    """Sections along a branch; arrays (n,).

    Attributes
    ----------
    length : ndarray of float
        From the branch's first point, mm.
    points, normals : ndarray of float, (n, 3)
        Voxels K, J, I; unit vectors in mm along K, J, I.
    area : ndarray of float
        mm^2; 0 where the place itself is outside the object.
    equivalent_diameter, inscribed_diameter : ndarray of float
        mm.
    """

    length: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    area: np.ndarray
    equivalent_diameter: np.ndarray
    inscribed_diameter: np.ndarray

    @property
    def minimal(self) -> int:
        """Index of the smallest section."""
        return int(self.area.argmin())


def cross_sections(
    mask: np.ndarray, skeleton: CurveSkeleton, branch: int, step: float | None = None
) -> CrossSections:
    """Cut an object across a branch.

    Parameters
    ----------
    mask : ndarray, (K, J, I)
        Not 0 in the object; its border is where the linear interpolation of the voxels is 1/2.
    skeleton : CurveSkeleton
    branch : int
        Number of the branch.
    step : float, optional
        Between sections, mm; by default the smallest spacing. Both ends have a section.

    Returns
    -------
    CrossSections

    Raises
    ------
    InputError
        If there is no such branch, the mask is on another grid, or the step is not above 0.

    Examples
    --------
    >>> from PotentialSkeletonLib.tree import skeleton_of_polylines
    >>> j, i = np.ogrid[-10:11, -10:11]
    >>> rod = np.repeat((j**2 + i**2 <= 36)[None], 30, axis=0)
    >>> axis = skeleton_of_polylines([[[5, 10, 10], [24, 10, 10]]], [[6, 6]])
    >>> import dataclasses
    >>> axis = dataclasses.replace(axis, shape=rod.shape)
    >>> found = cross_sections(rod, axis, 0, step=5)
    >>> bool(abs(found.equivalent_diameter - 12).max() < 0.6), found.inscribed_diameter
    (True, array([12., 12., 12., 12., 12.]))
    """
    if not 0 <= branch < len(skeleton.branches):
        raise InputError(
            _("There is no branch {branch}: the skeleton has {count}, from 0.").format(
                branch=branch, count=len(skeleton.branches)
            )
        )
    return sections_of(solid_of(mask, skeleton), skeleton, branch, step)


def solid_of(mask: np.ndarray, skeleton: CurveSkeleton) -> np.ndarray:
    """The mask as 0 and 1, float32; `InputError` where it is on another grid."""
    if mask.shape != tuple(skeleton.shape):
        raise InputError(
            _(
                "The mask has the shape {shape}, the skeleton's volume {volume} (K, J, I): "
                "give the mask on the same grid."
            ).format(shape=mask.shape, volume=tuple(skeleton.shape))
        )
    return (np.asarray(mask) != 0).astype(np.float32)


def sections_of(
    solid: np.ndarray, skeleton: CurveSkeleton, branch: int, step: float | None
) -> CrossSections:
    """As `cross_sections`, of a solid by `solid_of`: for one branch after the other."""
    step = min(skeleton.spacing) if step is None else step
    if not 0 < step < np.inf:
        raise InputError(
            _("The step between sections must be above 0 mm, not {step}.").format(step=step)
        )
    spacing, own = np.asarray(skeleton.spacing), skeleton.branches[branch]
    course = Course(own.points * spacing, own.radius)
    whole = float(course.lengths[-1])
    lengths = np.linspace(0, whole, max(int(np.ceil(whole / step)), 1) + 1)
    places, normals, areas, radii = [], [], [], []
    for length in lengths:
        place, radius = course.at(length)
        normal = _normal(course, length, max(radius, min(spacing)))
        places.append(place)
        normals.append(normal)
        areas.append(_area(solid, spacing, place, normal, radius))
        radii.append(radius)
    area = np.array(areas)
    return CrossSections(
        lengths, np.array(places) / spacing, np.array(normals), area,
        2 * np.sqrt(area / np.pi), 2 * np.array(radii),
    )  # fmt: skip


def _normal(course, length, radius):
    """Direction of the branch, over a radius to either side."""
    before, _ = course.at(length - TANGENT_REACH * radius)
    after, _ = course.at(length + TANGENT_REACH * radius)
    along = after - before
    size = np.linalg.norm(along)
    return along / size if size > 0 else np.array([1.0, 0.0, 0.0])


def _area(solid, spacing, place, normal, radius):
    """mm^2 of the section's part that holds the place."""
    from scipy.ndimage import label, map_coordinates

    helper = np.eye(3)[np.abs(normal).argmin()]
    across = np.cross(normal, helper)
    across /= np.linalg.norm(across)
    other = np.cross(normal, across)
    step = min(spacing) / SAMPLES_PER_VOXEL
    reach = FIRST_REACH * max(radius, min(spacing))
    while True:
        half = int(np.ceil(reach / step))
        offsets = np.arange(-half, half + 1) * step
        plane = place + offsets[:, None, None] * across + offsets[None, :, None] * other
        values = map_coordinates(solid, np.moveaxis(plane / spacing, 2, 0), order=1, cval=0.0)
        components, _ = label(values >= 0.5)
        if not components[half, half]:
            return 0.0
        section = components == components[half, half]
        edge = section[[0, -1]].any() or section[:, [0, -1]].any()
        if not edge or reach > MAX_REACH:
            return float(section.sum() * step**2)
        reach *= 2
