"""How far a skeleton is off known centrelines, both ways."""

from typing import Any

import numpy as np

STEP_MM = 0.25


def distances(skeleton: Any, phantom: Any) -> dict[str, dict[str, float]]:
    """Distances between a skeleton and the known centrelines of a phantom, inside its liver.

    Parameters
    ----------
    skeleton : PotentialSkeletonLib.CurveSkeleton
        Of a volume with the phantom's voxels.
    phantom : FuzzyVesselCoreLib.phantom.liver.Phantom

    Returns
    -------
    dict of str to dict
        "skeleton_to_centreline": how exact the skeleton is; "centreline_to_skeleton": how
        complete. Each with "mean" and "percentile_95" in mm; empty where there is no skeleton.
    """
    from scipy.spatial import cKDTree

    spacing = np.array(phantom.spacing)
    found = _samples([branch.points for branch in skeleton.branches], spacing)
    known = _samples([branch.points for branch in phantom.centrelines], spacing)
    measured = {}
    for name, here, there in (
        ("skeleton_to_centreline", found, known),
        ("centreline_to_skeleton", known, found),
    ):
        here = here[_inside(phantom.liver, here / spacing)]
        if len(here) and len(there):
            away = cKDTree(there).query(here)[0]
            measured[name] = {
                "mean": float(away.mean()),
                "percentile_95": float(np.percentile(away, 95)),
            }
    return measured


def _samples(curves, spacing):
    """Points (n, 3) in mm along curves in voxels, evenly spaced, so that long curves count more."""
    samples = [np.empty((0, 3))]
    for curve in curves:
        points = curve * spacing
        along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
        count = max(2, int(np.ceil(along[-1] / STEP_MM)) + 1)
        at = np.linspace(0, along[-1], count)
        samples.append(np.stack([np.interp(at, along, column) for column in points.T], axis=1))
    return np.concatenate(samples)


def _inside(mask, voxels):
    voxels = np.clip(np.rint(voxels).astype(int), 0, np.array(mask.shape) - 1)
    return mask[tuple(voxels.T)] > 0
