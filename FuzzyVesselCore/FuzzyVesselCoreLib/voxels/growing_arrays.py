"""Arrays that grow while compiled code fills them.

This is not `np.concatenate`, which numba compiles for seconds in each function that calls it.
"""

import numpy as np

from ..jit.decorators import compiled_inside


@compiled_inside
def doubled(array: np.ndarray) -> np.ndarray:
    """Return a copy with room for twice as many elements or rows; what is new is not set.

    Examples
    --------
    >>> doubled(np.arange(6.0).reshape(2, 3))[:2]
    array([[0., 1., 2.],
           [3., 4., 5.]])
    """
    return longer(array, 2 * array.shape[0])


@compiled_inside
def longer(array: np.ndarray, size: int) -> np.ndarray:
    """Return a copy with room for so many elements or rows; what is new is not set."""
    copy = np.empty((size, *array.shape[1:]), array.dtype)
    old, new = array.reshape(-1), copy.reshape(-1)
    for n in range(old.size):
        new[n] = old[n]
    return copy
