"""exp(-x*x) in float32 from basic operations only, so that every device gives the same bits.

The exponential functions of CPU and GPU libraries differ in the last bits; additions and
multiplications do not (IEEE 754). ``solvers/cuda/affinity.cuh`` has the same steps; a test compares
the two.
"""

from typing import Any

import numpy as np

LOG2_E = np.float32(1.4426950408889634)
HALF = np.float32(0.5)
# Beyond 2**-30 every affinity rounds to level 0, and the powers below stay normal numbers.
MAX_EXPONENT = np.float32(30.0)
POWERS_OF_HALF = np.float32(2.0) ** -np.arange(32, dtype=np.float32)

# Taylor coefficients of 2**r, ln(2)**n / n!; for |r| <= 1/2 the remainder is below 2e-8.
C1 = np.float32(0.6931471805599453)
C2 = np.float32(0.24022650695910072)
C3 = np.float32(0.05550410866482158)
C4 = np.float32(0.009618129107628477)
C5 = np.float32(0.0013333558146428443)
C6 = np.float32(0.00015403530393381608)
ONE = np.float32(1.0)


def bell(x: Any) -> Any:
    """Return exp(-x*x) of a float32 scalar or array, as float32.

    The relative error is below 2e-6; where the result is below 2**-30 it is 2**-30.
    Works on numpy arrays and, compiled by numba, on scalars.
    """
    exponent = np.minimum(x * x * LOG2_E, MAX_EXPONENT)
    whole = np.floor(exponent + HALF)
    r = whole - exponent
    power = ONE + r * (C1 + r * (C2 + r * (C3 + r * (C4 + r * (C5 + r * C6)))))
    return power * POWERS_OF_HALF[np.int64(whole)]
