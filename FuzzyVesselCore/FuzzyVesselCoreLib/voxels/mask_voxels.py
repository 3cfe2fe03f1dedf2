"""Which voxels are in a mask."""

import numpy as np

from ..errors import InputError
from ..translation import tr as _


def mask_voxels(values: np.ndarray, mask: str = "") -> np.ndarray:
    """Return which voxels of a mask are inside: those that are not 0.

    What is not a number is refused: programs write it round a mask, where it would count as inside.

    Parameters
    ----------
    values : ndarray
        Of any type of numbers.
    mask : str
        What the message calls it.

    Returns
    -------
    ndarray of bool, same shape

    Raises
    ------
    InputError
        A voxel is not a number.

    Examples
    --------
    >>> import numpy as np
    >>> mask_voxels(np.array([0.0, 0.5, 1.0])).tolist()
    [False, True, True]
    """
    if values.dtype.kind == "f":
        count = int(np.count_nonzero(np.isnan(values)))
        if count:
            text = _("{mask} has voxels that are not a number ({count:,}): replace them by 0.")
            raise InputError(text.format(mask=mask or _("The mask"), count=count))
    return values != 0
