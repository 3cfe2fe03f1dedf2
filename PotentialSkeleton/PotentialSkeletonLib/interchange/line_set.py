"""What the formats share: polylines in the world, names of branches, files written as a whole."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _

from ..graph.curve_skeleton import CurveSkeleton
from ..tree.rooting import Forest, RootedLine

RAS, LPS = "RAS", "LPS"
BETWEEN = " + "  # names of branches that are one piece
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # by XML 1.0


@dataclass(frozen=True)
class LineSet:
    """Polylines in world millimetres, with values as VTK's poly data have them."""

    points: np.ndarray  # (n, 3), of all lines, one after the other; lines share no points
    sizes: np.ndarray  # points of each line
    point_arrays: dict = field(default_factory=dict)  # values at each point
    cell_arrays: dict = field(default_factory=dict)  # values of each line
    space: str = RAS  # or LPS: the axes of the points

    def in_space(self, space: str) -> "LineSet":
        """The same lines in RAS or LPS."""
        if space not in (RAS, LPS):
            raise InputError(f"The space {space!r} is unknown: use RAS or LPS.")
        if space == self.space:
            return self
        return replace(self, points=self.points * [-1.0, -1.0, 1.0], space=space)

    def lines(self) -> list[np.ndarray]:
        """Points of each line."""
        return np.split(self.points, np.cumsum(self.sizes)[:-1])


def world_matrix(spacing: Sequence[float], ijk_to_ras: ArrayLike | None) -> np.ndarray:
    """The matrix from voxels I, J, K to world millimetres; by default I, J, K times the spacing.

    `InputError` if it is not an invertible affine matrix, or its voxels are not of the spacing (K,
    J, I in mm).
    """
    if ijk_to_ras is None:
        return np.diag([*np.asarray(spacing, float)[::-1], 1.0])
    matrix = np.asarray(ijk_to_ras, float)
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all() or np.linalg.det(matrix) == 0:
        raise InputError("ijk_to_ras must be an invertible matrix of 4 x 4 finite numbers.")
    sizes = np.linalg.norm(matrix[:3, :3], axis=0)[::-1]
    if not np.allclose(sizes, spacing, rtol=1e-3):
        raise InputError(
            f"ijk_to_ras has voxels of {sizes.round(4).tolist()} mm (K, J, I), the skeleton of "
            f"{np.round(spacing, 4).tolist()} mm: give the matrix of the same volume."
        )
    return matrix


def to_world(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Points (n, 3) in voxels K, J, I in the world of a matrix for I, J, K."""
    return points[:, ::-1] @ matrix[:3, :3].T + matrix[:3, 3]


def names_of_lines(
    lines: Iterable[RootedLine], forest: Forest, names: Mapping[int, str]
) -> list[str]:
    """Of each root-to-tip line the last name (of the skeleton's branches) on its way, or ""."""
    ways = [[forest.branches[n].number for n in line.branches] for line in lines]
    return [next((names[n] for n in reversed(way) if names.get(n)), "") for way in ways]


def check_names(skeleton: CurveSkeleton, names: Mapping[int, str] | None) -> None:
    """Refuse names of branches that the skeleton does not have; `InputError`."""
    for number, name in (names or {}).items():
        if not 0 <= number < len(skeleton.branches):
            raise InputError(
                f"The name {name!r} belongs to branch {number}, but the skeleton has "
                f"{len(skeleton.branches)} branches, from 0."
            )


def check_xml_text(text: str) -> str:
    """The text, if XML 1.0 can hold it; `InputError` otherwise."""
    if FORBIDDEN.search(text):
        said = _("The name {name!r} has a character that XML files cannot hold: rename the branch.")
        raise InputError(said.format(name=text))
    return text


@contextmanager
def whole_file(path: str | PathLike) -> Iterator[Path]:
    """Context manager: write to the path that it gives; at the end the file takes its place.

    If the block ends with an exception, nothing of it is left, and an earlier file stays.
    """
    path = Path(path)
    partial = path.with_name(f".{path.stem}-partial-{os.getpid()}{path.suffix}")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
