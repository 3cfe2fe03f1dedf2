"""A straightened view of a vessel: curved planar reformation along its centreline."""

from dataclasses import dataclass

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _

from ..course import Course

SMOOTHING = 0.5  # mean radii: deviation of the Gaussian along the line


@dataclass(frozen=True)
class StraightenedFrames:
    """Where the voxels of a straightened volume lie in the patient.

    Slice K lies across the smoothed centreline, `step` mm behind the one before; its axes I and J
    turn as little as possible from slice to slice.
    """

    centres: np.ndarray  # (n, 3), of the slices, mm in the world
    axes: np.ndarray  # (n, 3, 3): unit vectors of I, J, K in the world, a slice a matrix
    step: float  # of I, J and K, mm
    half: int  # voxels to either side of the centreline

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of the straightened volume, (K, J, I)."""
        side = 2 * self.half + 1
        return len(self.centres), side, side

    def to_world(self, places: np.ndarray) -> np.ndarray:
        """World points (n, 3) of places (n, 3) in the straightened volume, voxels K, J, I.

        Between two slices they are interpolated; beyond the ends they go straight on.
        """
        k, j, i = np.asarray(places, float).T
        low = np.clip(np.floor(k).astype(int), 0, len(self.centres) - 2)
        share = (k - low)[:, None]
        across, up = ((each - self.half)[:, None] * self.step for each in (i, j))

        def in_slice(n: np.ndarray) -> np.ndarray:
            return self.centres[n] + across * self.axes[n, 0] + up * self.axes[n, 1]

        return (1 - share) * in_slice(low) + share * in_slice(low + 1)

    def resample(
        self, voxels: np.ndarray, world_to_ijk: np.ndarray, order: int = 1, outside: float = 0
    ) -> np.ndarray:
        """The straightened volume of an image.

        Parameters
        ----------
        voxels : ndarray, (K, J, I)
        world_to_ijk : ndarray, (4, 4)
            Of the image; it may be oblique.
        order : int
            1 interpolates linearly; 0 takes the nearest voxel, for labels.
        outside : float
            Value beyond the image.

        Returns
        -------
        ndarray, (K, J, I)
            Of the image's type.
        """
        from scipy.ndimage import map_coordinates

        found = np.empty(self.shape, voxels.dtype)
        offsets = np.arange(-self.half, self.half + 1) * self.step
        for n, (centre, (i, j, _k)) in enumerate(zip(self.centres, self.axes)):
            world = centre + offsets[None, :, None] * i + offsets[:, None, None] * j
            ijk = world @ world_to_ijk[:3, :3].T + world_to_ijk[:3, 3]
            map_coordinates(
                voxels, np.moveaxis(ijk, -1, 0)[::-1], found[n], order, "constant", outside
            )
        return found


def straightened_frames(
    points: np.ndarray, radius: np.ndarray, width: float, step: float
) -> StraightenedFrames:
    """Frames along a centreline that turn about it as little as possible.

    The line is smoothed by a Gaussian along it, its ends kept. Frames follow by double reflection
    (Wang, Juettler, Zheng, Liu: Computation of rotation minimizing frames, ACM TOG 27, 2008, table
    I): without torsion of their own, so that a vessel does not seem to spiral.

    Parameters
    ----------
    points : ndarray, (n, 3)
        In the world, mm, right-handed.
    radius : ndarray, (n,)
        mm.
    width : float
        Of the slices, mm.
    step : float
        Between voxels in all three directions, mm.

    Raises
    ------
    InputError
        If the line is shorter than a step, or width or step are not above 0.

    Examples
    --------
    >>> turn = np.linspace(0, np.pi / 2, 100)
    >>> arc = np.stack([20 * np.cos(turn), 20 * np.sin(turn), 0 * turn], axis=1)
    >>> frames = straightened_frames(arc, np.ones(100), width=10.0, step=0.5)
    >>> frames.shape
    (64, 21, 21)
    >>> middle = frames.to_world(np.array([[31, 10, 10]]))[0]
    >>> bool(abs(np.hypot(*middle[:2]) - 20) < 0.1)
    True
    """
    course = Course(points, radius)
    whole = float(course.lengths[-1])
    if not (0 < step < np.inf and 0 < width < np.inf):
        text = _("The width ({width} mm) and the step ({step} mm) must be above 0.")
        raise InputError(text.format(width=width, step=step))
    if whole < step:
        text = _("The line is {length:.2g} mm long, too short to be straightened.")
        raise InputError(text.format(length=whole))
    centres = _smooth(course, step)
    tangents = np.gradient(centres, axis=0)
    tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
    across = np.eye(3)[np.abs(tangents[0]).argmin()]
    across = across - (across @ tangents[0]) * tangents[0]
    sides = [across / np.linalg.norm(across)]
    for n, along in enumerate(np.diff(centres, axis=0)):
        side, tangent = (_reflected(each, along) for each in (sides[-1], tangents[n]))
        side = _reflected(side, tangents[n + 1] - tangent)
        side -= (side @ tangents[n + 1]) * tangents[n + 1]  # of rounding
        sides.append(side / np.linalg.norm(side))
    i = np.array(sides)
    axes = np.stack([i, np.cross(tangents, i), tangents], axis=1)
    return StraightenedFrames(centres, axes, step, max(int(np.ceil(width / 2 / step)), 1))


def _smooth(course: Course, step: float) -> np.ndarray:
    """Points on the smoothed line, `step` apart; the last one may be nearer to the end than that.

    Beyond each end the line goes on as its mirror image through the end, which so stays in place.
    """
    from scipy.ndimage import gaussian_filter1d

    whole = course.lengths[-1]
    fine = np.linspace(0, whole, max(4 * int(whole / step), 8) + 1)
    line = np.stack([np.interp(fine, course.lengths, each) for each in course.points.T], axis=1)
    size = len(line) - 1
    ends = 2 * line[0] - line[size:0:-1], 2 * line[-1] - line[-2::-1]
    deviation = min(SMOOTHING * course.mean_radius / fine[1], size / 4)
    padded = np.concatenate([ends[0], line, ends[1]])
    smooth = gaussian_filter1d(padded, deviation, axis=0)[size : 2 * size + 1]
    lengths = Course(smooth, np.zeros(len(smooth))).lengths
    at = np.arange(0, lengths[-1] + step / 2, step).clip(max=lengths[-1])
    return np.stack([np.interp(at, lengths, each) for each in smooth.T], axis=1)


def _reflected(vector: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """A vector's mirror image in the plane across a normal of any length."""
    square = normal @ normal
    return vector - (2 * (normal @ vector) / square) * normal if square > 0 else vector
