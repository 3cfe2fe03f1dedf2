"""Tubularity of the contrast at a voxel, by the eigenvalues of its Hessian.

A tube has two large negative eigenvalues and a small one (Sato et al., Medical Image Analysis 2
(1998) 143-168; Frangi et al., MICCAI 1998, 130-137). Lengths are multiples of the smallest spacing.
"""

import numpy as np

SCALES = 1.5, 2.7, 5.0  # of the Hessian
MIN_SIGMA = 0.8  # .. in voxels: a narrower Gaussian has no second derivative on the grid
REACH = 3.0  # standard deviations at which a Gaussian is cut off


def tubularity(
    contrast: np.ndarray, voxel: tuple[int, ...], unit: np.ndarray
) -> tuple[float, float]:
    """Tubularity of the contrast at a voxel (in the contrast's unit), and its scale.

    Of the eigenvalues l1, l2, l3 of the Hessian, by their absolute values from small to large,
    the strength is ``(|l2| - |l1|) * l2 / l3`` where l2 and l3 are below 0, else 0; the Hessian is
    multiplied by the squared scale.
    """
    best = 0.0, SCALES[0]
    for scale in SCALES:
        (first, second, third), _along = principal_axis(contrast, voxel, scale / unit)
        if second < 0 and third < 0:
            best = max(best, (float((abs(second) - abs(first)) * second / third), scale))
    return best


def principal_axis(
    contrast: np.ndarray, voxel: tuple[int, ...], sigmas: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of the Hessian by absolute value, and the first one's eigenvector, in voxels.

    In a single slice there are two; the larger one counts twice, as that of a round tube does.
    """
    sigmas = np.maximum(sigmas, MIN_SIGMA)
    hessian = _hessian(contrast, voxel, sigmas)
    flat = contrast.shape[0] == 1
    values, vectors = np.linalg.eigh(hessian[1:, 1:] if flat else hessian)
    order = np.abs(values).argsort()
    along = vectors[:, order[0]]
    if flat:
        order, along = order[[0, 1, 1]], np.insert(along, 0, 0)
    return values[order], along * sigmas


def _hessian(contrast: np.ndarray, voxel: tuple[int, ...], sigmas: np.ndarray) -> np.ndarray:
    """Scale-normalized Gaussian second derivatives of the positive contrast at a voxel."""
    part, weights = contrast, []
    for axis, (c, sigma) in enumerate(zip(voxel, sigmas)):
        reach = max(1, int(np.ceil(REACH * sigma)))
        at = np.clip(np.arange(c - reach, c + reach + 1), 0, contrast.shape[axis] - 1)
        part = part[(slice(None),) * axis + (slice(at[0], at[-1] + 1),)]
        weights.append(
            _derivatives(np.arange(-reach, reach + 1), sigma, at - at[0], part.shape[axis])
        )
    part = np.maximum(part, np.float32(0))
    # From the last axis to the first; afterwards the axes are orders of derivatives along K, J, I.
    for weight in reversed(weights):
        part = np.moveaxis(np.tensordot(part, weight, ([2], [1])), 2, 0)
    hessian = np.empty((3, 3))
    for a in range(3):
        for b in range(3):
            orders = np.bincount([a, b], minlength=3)
            hessian[a, b] = part[tuple(orders)]
    return hessian


def _derivatives(offsets: np.ndarray, sigma: float, at: np.ndarray, size: int) -> np.ndarray:
    """Weights (3, size) of a Gaussian and its first two derivatives, times powers of sigma."""
    scaled = offsets / sigma
    gauss = np.exp(-0.5 * scaled**2)
    gauss /= gauss.sum()
    second = gauss * (scaled**2 - 1)
    second -= gauss * second.sum()  # 0 in a constant volume
    weights = np.zeros((3, size))
    for order, values in enumerate((gauss, gauss * scaled, second)):
        np.add.at(weights[order], at, values)  # the border is replicated outside
    return weights
