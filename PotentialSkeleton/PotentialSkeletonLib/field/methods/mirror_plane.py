"""Components one voxel thick: in the plane that they lie in no force goes across it."""

from typing import Any

from ..solid import ChargedSolid


def clear_across(solid: ChargedSolid, vectors: Any) -> None:
    """Write the 0 that the forces across a component that is one voxel thick have by symmetry.

    Such a component and its charges are their own mirror image. The sums to both sides cancel but
    for rounding, and each method and device rounds in its own way: critical points would come and
    go with the last bits.

    Parameters
    ----------
    solid : ChargedSolid
    vectors : ndarray, shape (K, J, I, 3) of the solid's box
        Numpy's or CuPy's; changed in place.
    """
    middle = solid.charge_distance
    for axis in range(3):
        if vectors.shape[axis] == 2 * middle + 1:
            plane = (slice(None),) * axis + (middle,)
            vectors[(*plane, ..., axis)] = 0
