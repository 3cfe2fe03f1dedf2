"""Components of a labelled volume, each read once, with its cavities filled."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.translation import tr as _
from FuzzyVesselCoreLib.voxels.labels import fill_cavities

from .component_folder import ComponentFolder


@dataclass(frozen=True)
class FilledComponents:
    """The components that lie in no other's cavity.

    Attributes
    ----------
    numbers : ndarray of int64, (n,)
        In the labelled volume, ascending.
    sizes : ndarray of int64, (n,)
        Voxels, with what was filled.
    cavities, cavity_voxels : int
        In all of them.
    """

    numbers: np.ndarray
    sizes: np.ndarray
    cavities: int
    cavity_voxels: int


def fill_components(
    labels: Any, low: np.ndarray, high: np.ndarray, folder: ComponentFolder, progress: Progress
) -> FilledComponents:
    """Keep each component that lies in no other's cavity, filled, in the folder.

    Parameters
    ----------
    labels : array, shape (K, J, I)
        Numbers of components from 1, in the order of their first voxels; read by slices.
    low, high : ndarray of int, (n, 3)
        Boxes of the components.
    folder : ComponentFolder
    progress : Progress

    Raises
    ------
    InputError
        A box of the labels cannot be read, or lacks its component.
    Cancelled
    """
    nested: set[int] = set()
    numbers, sizes, cavities = [], [], np.zeros(2, np.int64)
    for number in range(1, len(low) + 1):
        if number not in nested:
            if not folder.has("filled", number):
                box = tuple(map(slice, low[number - 1].tolist(), high[number - 1].tolist()))
                _fill(_read(labels, box, number), number, folder, progress)
            record = folder.get("filled", number)
            nested.update(record["nested"].tolist())
            cavities += record["counts"][1:]
            numbers.append(number)
            sizes.append(int(record["counts"][0]))
        progress.advance(number / len(low))
    given = np.array(numbers, np.int64), np.array(sizes, np.int64)
    return FilledComponents(*given, int(cavities[0]), int(cavities[1]))


def _read(labels: Any, box: tuple[slice, ...], number: int) -> np.ndarray:
    try:
        return np.asarray(labels[box])
    except Exception as error:
        spans = ", ".join(f"{side.start}:{side.stop}" for side in box)
        raise InputError(
            _(
                "Component {number} cannot be read, in the voxels [{box}] (K, J, I): {reason}. "
                "Write the labels again; finished components are kept."
            ).format(number=number, box=spans, reason=f"{type(error).__name__}: {error}")
        ) from error


def _fill(part: np.ndarray, number: int, folder: ComponentFolder, progress: Progress) -> None:
    own = part == number
    if not own.any():
        raise InputError(
            _(
                "The labels hold no component {number} in its box: they are not those that the "
                "boxes were found in."
            ).format(number=number)
        )
    filled = fill_cavities(own, progress)[0]
    inside = filled & (part != 0)
    # The background inside is counted as the whole counts it: between nested components, too.
    cavities = fill_cavities(inside, progress)[1:]
    nested = np.unique(part[inside & ~own])
    counts = np.array([np.count_nonzero(filled), *cavities], np.int64)
    folder.put(
        "filled", number, packed=np.packbits(filled), shape=filled.shape, nested=nested,
        counts=counts,
    )  # fmt: skip
