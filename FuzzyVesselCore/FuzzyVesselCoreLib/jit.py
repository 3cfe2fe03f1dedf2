"""How a function is compiled: for Python, for other compiled functions, or into its callers.

What is left out is most of the time that small functions take to compile: numba makes three
functions of each, one for callers in compiled code, one for Python and one for C. A trivial
function takes 84 ms for all three, 47 ms as `compiled_inside`, and 16 ms as `inlined`.
"""

from typing import Any

import numpy as np
from numba import njit
from numba.extending import register_jitable

WITHOUT_C: Any = {"no_cfunc_wrapper": True}

# Called by Python; releases its lock meanwhile, and is kept in the cache on disk.
compiled = njit(cache=True, nogil=True, **WITHOUT_C)

# Called by compiled functions. Python interprets it.
compiled_inside = register_jitable(**WITHOUT_C)

# Copied into the compiled functions that call it, each time: for a few lines. A long function takes
# 1.6 times as long with its parts copied into it as with these compiled by themselves.
inlined = njit(cache=True, inline="always")


@compiled_inside
def longer(array: np.ndarray, size: int) -> np.ndarray:
    """A copy of an array with room for so many elements or rows; what is new is not set.

    Not by `np.concatenate`, which numba compiles for seconds in each function that calls it.
    """
    copy = np.empty((size, *array.shape[1:]), array.dtype)
    old, new = array.reshape(-1), copy.reshape(-1)
    for n in range(old.size):
        new[n] = old[n]
    return copy
