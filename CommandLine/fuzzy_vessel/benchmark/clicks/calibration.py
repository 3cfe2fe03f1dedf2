"""Can a result's confidence be calibrated? Logistic regression, each scan predicted by the others.

A result is near its best where its Dice is within `NEAR` of the best Dice that another threshold of
the same scene gives. What a run knows of itself are the `FEATURES`.
"""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize

NEAR = 0.05
FEATURES = ("contrast to noise", "growth", "shrinkage", "compactness")
LOWER, UPPER = 0.4, 0.6  # thresholds beside the model's own, 0.5
BINS = 0.0, 0.5, 0.7, 0.9, 1.0  # of the confidence
PENALTY = 0.05  # of the squared weights: some scans are alike
STEPS = 400  # thresholds that are tried


def features(scene: np.ndarray, contrast: float, noise: float) -> list[float]:
    """What a run knows of its result, in the order of `FEATURES`.

    Contrast to noise of the strongest click, logarithmic; growth and shrinkage: by how much,
    logarithmic, the volume changes from the threshold 0.5 to `LOWER` and to `UPPER`; compactness:
    logarithm of voxels over border voxels.
    """
    from .measures import border

    lower, own, upper = (max(1, int((scene >= t).sum())) for t in (LOWER, 0.5, UPPER))
    edge = max(1, int(border(scene >= 0.5).sum()))
    ratio = max(contrast / noise, 0.1) if noise > 0 else 1e3
    return [float(np.log(x)) for x in (ratio, lower / own, own / upper, own / edge)]


def dice_by_threshold(scene: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Dice at the thresholds ``0, 1 / STEPS, ...`` below 1."""
    edges = np.linspace(0, 1, STEPS + 1)
    found, right = (
        np.histogram(values, edges)[0][::-1].cumsum()[::-1] for values in (scene, scene[truth])
    )
    return 2 * right / np.maximum(found + np.count_nonzero(truth), 1)


def loss(scene: np.ndarray, truth: np.ndarray) -> float:
    """Dice of the best threshold minus that of the model's own."""
    by_threshold = dice_by_threshold(scene, truth)
    return float(by_threshold.max() - by_threshold[STEPS // 2])


def predicted(known: np.ndarray, near: np.ndarray, scans: Sequence[str]) -> np.ndarray:
    """Probability of each result to be near its best, learnt from the other scans alone.

    Parameters
    ----------
    known : ndarray, shape (n, features)
    near : ndarray of bool, shape (n,)
    scans : sequence of n str
        Each scan has the same weight.

    Returns
    -------
    ndarray, shape (n,)
    """
    names = np.asarray(scans)
    weights = np.array([1 / np.count_nonzero(names == name) for name in names])
    found = np.empty(len(names))
    for name in dict.fromkeys(scans):
        others, here = names != name, names == name
        middle, spread = known[others].mean(axis=0), known[others].std(axis=0) + 1e-9
        rows = np.c_[np.ones(len(names)), (known - middle) / spread]
        found[here] = 1 / (
            1 + np.exp(-rows[here] @ _fit(rows[others], near[others], weights[others]))
        )
    return found


def _fit(rows: np.ndarray, near: np.ndarray, weights: np.ndarray) -> np.ndarray:
    def cost(factors):
        score = rows @ factors
        own = weights * (np.logaddexp(0, score) - near * score)
        return own.sum() + PENALTY * (factors[1:] ** 2).sum()

    return minimize(cost, np.zeros(rows.shape[1])).x


def calibration_error(said: np.ndarray, near: np.ndarray) -> float:
    """Mean difference of confidence and truth over `BINS`, by their results (ECE)."""
    return sum(
        np.count_nonzero(inside) / len(said) * abs(said[inside].mean() - near[inside].mean())
        for inside in bins_of(said)
        if inside.any()
    )


def bins_of(said: np.ndarray) -> list[np.ndarray]:
    """Which results each of `BINS` has."""
    tops = [*BINS[1:-1], np.inf]
    return [(said >= low) & (said < high) for low, high in zip(BINS[:-1], tops)]
