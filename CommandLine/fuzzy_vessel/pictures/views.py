"""Sides and frames of 3D views, and what of a subject is shown in them."""

from collections.abc import Sequence

import numpy as np

from .subject import Subject, box

# Beyond so many voxels of vessels, or in their box, every second voxel along each axis has to do.
MAX_VOXELS, MAX_IN_BOX = 1_500_000, 100_000_000
# Name, direction to the eye and upwards (RAS); the extents that one sees (indices into R, A, S).
VIEWS = (
    ("from the front", (-0.30, 0.92, 0.24), (0, 0, 1), (0, 2)),
    ("from the left", (-0.92, 0.30, 0.24), (0, 0, 1), (1, 2)),
    ("from below", (-0.20, 0.24, -0.95), (0, 1, 0), (0, 1)),
)
# The front is what one knows best: it is taken unless another side shows this much more.
FRONT_BONUS = 1.6


def reduced(subject: Subject) -> tuple[np.ndarray, np.ndarray]:
    """Labels in the box of vessels and seeds, coarser where it is huge, and their IJK to RAS."""
    low, high = box(subject.labels, subject.seeds)
    labels = subject.labels[tuple(slice(a, b + 1) for a, b in zip(low, high))]
    many = labels.size > MAX_IN_BOX or np.count_nonzero(labels) > MAX_VOXELS
    step = 2 if many else 1
    matrix = np.array(subject.ijk_to_ras, float)
    matrix[:3, 3] += matrix[:3, :3] @ low[::-1]
    matrix[:3, :3] *= step
    return labels[::step, ::step, ::step], matrix


def to_ras(subject: Subject, voxels: np.ndarray) -> np.ndarray:
    """Voxels (n, 3; K, J, I) of a subject in RAS, mm."""
    voxels = np.reshape(voxels, (-1, 3)).astype(float)
    return voxels[:, ::-1] @ subject.ijk_to_ras[:3, :3].T + subject.ijk_to_ras[:3, 3]


def corners(matrix: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """The corners (8, 3; RAS) of a box of voxels (IJK to RAS, shape K, J, I)."""
    last = np.array(shape[::-1]) - 1.0
    unit = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    return unit * last @ matrix[:3, :3].T + matrix[:3, 3]


def sides(matrix: np.ndarray, shape: Sequence[int]) -> list:
    """The `VIEWS` of a box of voxels (IJK to RAS, shape K, J, I), the one that shows most first."""
    extent = np.ptp(corners(matrix, shape), axis=0)

    def seen(view):
        first, second = view[3]
        return extent[first] * extent[second] * (FRONT_BONUS if view is VIEWS[0] else 1)

    return sorted(VIEWS, key=seen, reverse=True)


def framed(side: tuple, points: np.ndarray, margin: float = 1.04) -> dict:
    """Put a square frame that holds all points round one of the `VIEWS`.

    Parameters
    ----------
    side : tuple
    points : ndarray, (n, 3)
        RAS in mm.
    margin : float

    Returns
    -------
    dict
        "name"; "right", "up", "eye": unit vectors (RAS) across and up the image and to the viewer;
        "centre": RAS; "half_height_mm".
    """
    name, eye, up, _ = side
    eye = np.array(eye) / np.linalg.norm(eye)
    right = np.cross(up, eye)
    right /= np.linalg.norm(right)
    up = np.cross(eye, right)
    axes = np.array([right, up, eye])
    placed = points @ axes.T
    centre = (placed.min(axis=0) + placed.max(axis=0)) / 2
    half = np.ptp(placed[:, :2], axis=0).max() / 2 * margin + 2.0
    return {
        "name": name,
        "eye": eye.tolist(),
        "right": right.tolist(),
        "up": up.tolist(),
        "centre": (centre @ axes).tolist(),
        "half_height_mm": float(half),
    }
