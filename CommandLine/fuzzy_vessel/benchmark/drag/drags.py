"""Ways that points are dragged: which point, and where it is at each step."""

from dataclasses import dataclass

import numpy as np

FIRST, FURTHER, BACKGROUND = "the first point", "a further point", "a not-vessel point"


@dataclass(frozen=True)
class Drag:
    """One point that moves, among others that stay.

    Attributes
    ----------
    what : str
    seeds, background : list of (k, j, i)
    of_background : bool
        Whether the point is one of the background, else of the seeds.
    index : int
        Of the point in its list.
    way : list of (k, j, i)
        Where it goes.
    """

    what: str
    seeds: list[tuple[int, ...]]
    background: list[tuple[int, ...]]
    of_background: bool
    index: int
    way: list[tuple[int, ...]]


def drags(
    seeds: list[tuple[int, ...]],
    background: tuple[int, ...],
    shape: tuple[int, ...],
    spacing: tuple[float, ...],
    steps: int,
) -> list[Drag]:
    """The first point, a further one and a background point, each dragged away and back.

    Parameters
    ----------
    seeds : list of (k, j, i)
        At least two.
    background : (k, j, i)
    shape, spacing : K, J, I
    steps : int
        Of each drag, about 1.5 mm apart.
    """
    chosen = [
        (FIRST, seeds, [background], False, 0),
        (FURTHER, seeds, [background], False, 1),
        (BACKGROUND, seeds, [background], True, 0),
    ]
    found = []
    for number, (what, ours, others, of_background, index) in enumerate(chosen):
        start = (others if of_background else ours)[index]
        way = _way(start, np.random.default_rng(number), shape, spacing, steps)
        taken = {*ours, *others} - {start}
        way = [at for at in way if at not in taken]
        found.append(Drag(what, ours, others, of_background, index, way))
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
