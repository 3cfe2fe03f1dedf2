"""Vesselness: how tubular the intensities around a voxel are, by the eigenvalues of the Hessian.

Zhang, Zhou, Wu, Lin, Tsui and Wu, "An improved fuzzy connectedness method for automatic
three-dimensional liver vessel segmentation in CT images", Journal of Healthcare Engineering (2018)
2376317, put a vesselness image into the affinity, in place of the intensities.
"""

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import in_parts
from FuzzyVesselCoreLib.voxels.bounding_box import Box, padded_box

from ..contrast.denoising.filters import separable

SCALES = 1.0, 1.7, 2.9, 5.0  # of the Hessian, in smallest spacings
MIN_SIGMA = 0.8  # .. in voxels: a narrower Gaussian has no second derivative on the grid
REACH = 4.0  # standard deviations at which a Gaussian is cut off
# Sensitivities of Frangi's measure to plates, blobs and noise: the last one is half of a high
# percentile of the Hessian's norm, not of its maximum, which a bone or a clip would decide.
PLATES, BLOBS, NORM_PERCENTILE = 0.5, 0.5, 99.0
MAX_SAMPLES = 1 << 20
# Orders of the derivatives along K, J, I, of the six elements of the Hessian.
ELEMENTS = (2, 0, 0), (0, 2, 0), (0, 0, 2), (1, 1, 0), (1, 0, 1), (0, 1, 1)


def vesselness(
    volume: np.ndarray,
    box: Box,
    unit: np.ndarray,
    progress: Progress | None = None,
    dark: bool = False,
) -> np.ndarray:
    """Vesselness (float32, 0..1) of a box, the largest over `SCALES`.

    The measure of Frangi, Niessen, Vincken and Viergever, "Multiscale vessel enhancement
    filtering", MICCAI 1998, 130-137, equation 13. Of the eigenvalues l1, l2, l3 of the
    scale-normalized Hessian, by their absolute values from small to large, it is ``(1 - exp(-A**2 /
    (2 a**2))) * exp(-B**2 / (2 b**2)) * (1 - exp(-S**2 / (2 c**2)))`` where l2 and l3 are below 0,
    else 0; ``A = l2 / l3``, ``B**2 = l1**2 / (l2 * l3)``, and S is the Hessian's norm. a and b are
    `PLATES` and `BLOBS`; c is half of the 99th percentile of S in the box.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I)
    box : tuple of 3 slice
    unit : ndarray, shape (3,)
        Spacing along K, J, I in multiples of the smallest.
    progress : Progress, optional
    dark : bool
        Tubes are darker than their surroundings.

    Returns
    -------
    ndarray, float32, of the box's shape
    """
    progress = Progress.of(progress)
    found = np.zeros([side.stop - side.start for side in box], np.float32)
    sign = np.float32(-1 if dark else 1)
    for n, scale in enumerate(SCALES):
        progress.advance(n / len(SCALES))
        elements = hessian(volume, box, scale / unit)
        norm = half_of_high_norm(elements)
        if norm > 0:
            _raise(found, elements, sign, norm, volume.shape[0] == 1)
    progress.advance(1.0)
    return found


def half_of_high_norm(elements: tuple[np.ndarray, ...]) -> float:
    """Half of the `NORM_PERCENTILE` of the Hessian's norm, from a sample of the voxels."""
    step = max(1, elements[0].size // MAX_SAMPLES)
    kk, jj, ii, kj, ki, ji = (element.ravel()[::step].astype(np.float64) for element in elements)
    squares = kk**2 + jj**2 + ii**2 + 2 * (kj**2 + ki**2 + ji**2)
    return float(np.sqrt(np.percentile(squares, NORM_PERCENTILE)) / 2)


def hessian(volume: np.ndarray, box: Box, sigmas: np.ndarray) -> tuple[np.ndarray, ...]:
    """The six elements of the Hessian of a box (float32), in the order of `ELEMENTS`.

    Gaussian derivatives, each multiplied by the sigmas (voxels, along K, J, I) that it belongs
    to; the volume's border is replicated. A volume of one slice has no derivatives along K.
    """
    sigmas = np.maximum(sigmas, MIN_SIGMA)
    margin = np.ceil(REACH * sigmas).astype(int)
    wide = padded_box(box, margin.tolist(), volume.shape)
    part = np.ascontiguousarray(volume[wide], np.float32)
    part -= part.mean(dtype=np.float64)  # float32 resolves differences of large intensities then
    inner = tuple(slice(b.start - w.start, b.stop - w.start) for b, w in zip(box, wide))
    flat = volume.shape[0] == 1
    kernels = [derivative_weights(sigma) for sigma in sigmas]
    none = np.ones(1, np.float32)
    elements = []
    for orders in ELEMENTS:
        if flat and orders[0]:
            elements.append(np.zeros([b.stop - b.start for b in box], np.float32))
            continue
        weights = [axis[order] for axis, order in zip(kernels, orders)]
        if flat:
            weights[0] = none
        elements.append(separable(part, weights)[inner])
    return tuple(elements)


def derivative_weights(sigma: float) -> list[np.ndarray]:
    """Weights (float32) of a Gaussian and its derivatives times sigma and sigma squared."""
    radius = int(np.ceil(REACH * sigma))
    scaled = np.arange(-radius, radius + 1) / sigma
    gauss = np.exp(-0.5 * scaled**2)
    gauss /= gauss.sum()
    second = gauss * (scaled**2 - 1)
    second -= gauss * second.sum()  # 0 in a constant volume
    return [weights.astype(np.float32) for weights in (gauss, gauss * scaled, second)]


def _raise(
    found: np.ndarray, elements: tuple[np.ndarray, ...], sign: np.float32, norm: float, flat: bool
) -> None:
    def work(first: int, last: int) -> None:
        _raise_rows(found, elements, sign, norm, flat, first, last)

    in_parts(work, found.shape[0] * found.shape[1], found.size)


@njit(nogil=True, cache=True)
def _raise_rows(found, elements, sign, norm, flat, first, last):
    kk, jj, ii, kj, ki, ji = elements
    _, height, width = found.shape
    for row in range(first, last):
        k, j = row // height, row % height
        for i in range(width):
            a, b, c = sign * kk[k, j, i], sign * jj[k, j, i], sign * ii[k, j, i]
            if not flat and a + b + c >= 0:
                continue  # a tube's Hessian has a negative trace
            ab, ac, bc = sign * kj[k, j, i], sign * ki[k, j, i], sign * ji[k, j, i]
            value = np.float32(_measure(a, b, c, ab, ac, bc, norm, flat))
            found[k, j, i] = max(found[k, j, i], value)


@njit(cache=True)
def _measure(a, b, c, ab, ac, bc, norm, flat):
    """The measure of the symmetric matrix [[a, ab, ac], [ab, b, bc], [ac, bc, c]].

    In a single slice the larger of the two eigenvalues counts twice, as that of a round tube does.
    """
    if flat:
        middle, half = (b + c) / 2, np.sqrt((b - c) ** 2 / 4 + bc * bc)
        low, high = middle - half, middle + half
        if low >= 0 or high >= -low:
            return 0.0
        first, second, third = high, low, low
    else:
        third, middle, high = _eigenvalues(a, b, c, ab, ac, bc)
        first, second = (high, middle) if abs(high) <= abs(middle) else (middle, high)
        if second >= 0 or third >= 0:
            return 0.0
    plate = second / third
    blob = first * first / (second * third)
    squares = first * first + second * second + third * third
    tube = (1 - np.exp(-plate * plate / (2 * PLATES**2))) * np.exp(-blob / (2 * BLOBS**2))
    return tube * (1 - np.exp(-squares / (2 * norm**2)))


@njit(cache=True)
def _eigenvalues(a, b, c, ab, ac, bc):
    """Eigenvalues from low to high (Smith, Communications of the ACM 4 (1961) 168)."""
    a, b, c = np.float64(a), np.float64(b), np.float64(c)
    ab, ac, bc = np.float64(ab), np.float64(ac), np.float64(bc)
    mean = (a + b + c) / 3
    a, b, c = a - mean, b - mean, c - mean
    spread = np.sqrt((a * a + b * b + c * c + 2 * (ab * ab + ac * ac + bc * bc)) / 6)
    if spread == 0:
        return mean, mean, mean
    determinant = a * (b * c - bc * bc) - ab * (ab * c - bc * ac) + ac * (ab * bc - b * ac)
    angle = np.arccos(min(max(determinant / (2 * spread**3), -1.0), 1.0)) / 3
    high = mean + 2 * spread * np.cos(angle)
    low = mean + 2 * spread * np.cos(angle + 2 * np.pi / 3)
    return low, 3 * mean - high - low, high
