"""What a component needs of memory, and the refusal of one that is too large."""

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _

# Upper estimate in bytes for each voxel of a component's box: spectra of the convolution (64) and
# what is transformed at a time, field, depths, distances, labels. On small boxes its parts weigh
# more: what threads work in.
BOX_VOXEL, WORKSPACE = 144, 48 << 20
MARGIN = 3  # voxels round the box: one that is empty, two for charges


def component_memory(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Upper estimate of the bytes that each component's skeleton needs on the CPU; int64 (n,).

    Parameters
    ----------
    low, high : ndarray of int, (n, 3)
        First voxels of the components, and the ones after the last, along K, J, I.

    Examples
    --------
    >>> int(component_memory(np.array([[0, 0, 0]]), np.array([[500, 500, 500]]))[0]) // 10**9
    18
    """
    sides = np.asarray(high, np.int64) - low + 2 * MARGIN
    return sides.prod(axis=1) * BOX_VOXEL + WORKSPACE


def refuse_large(sizes: np.ndarray, low: np.ndarray, high: np.ndarray, limit: int | None) -> None:
    """Refuse components that need more memory than the limit; the message names the largest.

    Raises
    ------
    InputError
    """
    if limit is None or not len(sizes):
        return
    needed = component_memory(low, high)
    largest = int(np.argmax(needed))
    if needed[largest] <= limit:
        return
    spans = ", ".join(f"{a}:{b}" for a, b in zip(low[largest], high[largest]))
    raise InputError(
        _(
            "Component {number} of {voxels} voxels needs up to {needed} GB, above the limit of "
            "{limit} GB: its skeleton is exact only as a whole, in its box [{box}] (K, J, I). "
            "Raise the limit or take a machine with more memory; or raise the threshold, crop the "
            "labels, or make the voxels larger."
        ).format(
            number=largest + 1,
            voxels=int(sizes[largest]),
            needed=f"{needed[largest] / 1e9:.3g}",
            limit=f"{limit / 1e9:.3g}",
            box=spans,
        )
    )
