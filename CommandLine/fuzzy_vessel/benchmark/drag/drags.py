"""Ways that points are dragged: which point, and where it is at each step."""

from dataclasses import dataclass

import numpy as np

FIRST, FURTHER, BACKGROUND = "the first point", "a further point", "a not-vessel point"
OF_SEVERAL = "a point of one of {count} vessels"
FIRST_OF_SEVERAL = "the first point of {count} vessels"

Voxel = tuple[int, ...]


@dataclass(frozen=True)
class Drag:
    """One point that moves, among others that stay.

    Attributes
    ----------
    what : str
    vessels : list of list of (k, j, i)
        The points of each vessel.
    background : list of (k, j, i)
    vessel : int or None
        Whose point it is; None: one of the background.
    index : int
        Of the point in its list.
    way : list of (k, j, i)
        Where it goes.
    """

    what: str
    vessels: list[list[Voxel]]
    background: list[Voxel]
    vessel: int | None
    index: int
    way: list[Voxel]

    def at(self, voxel: Voxel) -> tuple[list[list[Voxel]], list[Voxel]]:
        """The points of the vessels and of the background with the point at a voxel."""
        vessels, background = [list(each) for each in self.vessels], list(self.background)
        (background if self.vessel is None else vessels[self.vessel])[self.index] = voxel
        return vessels, background


def drags(
    seeds: list[Voxel],
    background: Voxel,
    others: list[list[Voxel]],
    shape: tuple[int, ...],
    spacing: tuple[float, ...],
    steps: int,
) -> list[Drag]:
    """The first point, a further one, a background point, and that with further vessels.

    Parameters
    ----------
    seeds : list of (k, j, i)
        Of the first vessel, at least two.
    background : (k, j, i)
    others : list of list of (k, j, i)
        The points of further vessels.
    shape, spacing : K, J, I
    steps : int
        Of each drag, about 1.5 mm apart.
    """
    several = OF_SEVERAL.format(count=1 + len(others))
    chosen = [
        (FIRST, [seeds], 0, 0),
        (FURTHER, [seeds], 0, 1),
        (BACKGROUND, [seeds], None, 0),
        (several, [seeds, *others], 0, 1),
        (f"{several}, the last", [seeds, *others], len(others), len(others[-1]) - 1),
        (FIRST_OF_SEVERAL.format(count=1 + len(others)), [seeds, *others], 0, 0),
    ]
    found = []
    for number, (what, vessels, vessel, index) in enumerate(chosen):
        start = background if vessel is None else vessels[vessel][index]
        way = _way(start, np.random.default_rng(number), shape, spacing, steps)
        taken = {background, *(point for each in vessels for point in each)} - {start}
        way = [at for at in way if at not in taken]
        found.append(Drag(what, vessels, [background], vessel, index, way))
    return found


def _way(start, rng, shape, spacing, steps):
    """Voxels of a way that turns, about 1.5 mm a step, within the volume."""
    direction, position, found = rng.normal(0, 1, 3), np.zeros(3), []
    for _ in range(steps):
        direction += rng.normal(0, 0.5, 3)
        position += 1.5 * direction / np.linalg.norm(direction)
        voxel = np.array(start) + np.round(position / spacing)
        found.append(tuple(int(c) for c in np.clip(voxel, 0, np.array(shape) - 1)))
    return found
