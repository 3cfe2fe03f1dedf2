"""The kernel in two parts: one that ends at a short distance, and a smooth one.

A power of the distance is an integral over bells of all widths, whose shape does not matter
(``r^-p`` is proportional to the integral of ``t^(-p - 1) bell(r / t)`` over t, as in Ewald's sum).
Bells up to `REACH` wide are the near part, which is summed directly; wider ones are the far part,
whose spectrum ends early: a convolution with it needs fewer frequencies. The bell is that of
Kaiser and Bessel, which is 0 from 1 on and whose spectrum hardly goes beyond `SHARPNESS`.
"""

import numpy as np

REACH = 16  # voxels
SHARPNESS = 22.0  # the greater, the less of the spectrum is cut off, and the later it can be cut
BAND = SHARPNESS / (np.pi * REACH)  # of the frequencies that voxels can have
NODES = 64  # of the quadrature


def near_powers(exponent: int) -> np.ndarray:
    """Return the near part of R^-exponent for each integer R^2; 0 at 0 and at the end.

    Returns
    -------
    ndarray of float64, (REACH^2 + 1,)

    Examples
    --------
    >>> near = near_powers(7)
    >>> bool(0.999 < near[1] < 1), float(near[-1])
    (True, 0.0)
    """
    distance = np.sqrt(np.arange(REACH**2 + 1.0)) / REACH
    node, weight = np.polynomial.legendre.leggauss(NODES)
    node, weight = (node + 1) / 2, weight / 2
    width = distance[:, None] * node
    bell = np.i0(SHARPNESS * np.sqrt(1 - width**2))
    narrower = distance * ((width ** (exponent - 1) * bell) @ weight)
    powers = np.zeros(len(distance))
    powers[1:] = (1 - narrower[1:] / narrower[-1]) * (REACH * distance[1:]) ** -exponent
    return powers
