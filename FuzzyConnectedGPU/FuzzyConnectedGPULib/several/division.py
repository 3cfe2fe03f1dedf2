"""A fuzzy scene divided among the vessels whose points it was computed from."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.bounding_box import bounding_box

from ..relative.groups import DISPUTED, checked_groups

if TYPE_CHECKING:
    from FuzzyVesselCoreLib.gpu.device import CudaDevice

    from ..contrast.evidence.evidence import Evidence

BACKGROUND_NAME = "Not vessel"  # in messages
BACKGROUND = DISPUTED - 1  # the owner of what background points reach strongest


def divide_by_contrast(
    evidence: "Evidence",
    scene: np.ndarray,
    vessels: Mapping[str, Any],
    progress: Progress,
    background: np.ndarray | None = None,
    gpu: "CudaDevice | None" = None,
) -> np.ndarray:
    """The vessel of each voxel that a scene of the contrast model reaches.

    Parameters
    ----------
    evidence : Evidence
        That the scene was computed from.
    scene : ndarray, float32, shape (K, J, I)
        No path leaves the voxels above 0.
    vessels : mapping of str to array_like, shape (n, 3), integers K, J, I
        In the box of the evidence.
    progress : Progress
    background : ndarray, shape (m, 3), optional
        One more group, after the vessels; only where it is clicked, and not the vessel beside.
    gpu : CudaDevice, optional
        That the evidence is on, inside its ``with`` block: paths and disputed voxels are computed
        there, with the same result; voxels without contrast are shared on the host.

    Returns
    -------
    ndarray, uint8, shape (K, J, I)
        `NOBODY`, the number of a vessel from 1 on, or `DISPUTED`.
    """
    with needs_numba():
        from ..relative.contrast_division import divide_levels, steps_of_noise
        from ..relative.stages import Clock, DivisionOptions
        from .unowned import share_unowned

    groups = with_ridges(evidence, vessels, background)
    points = checked_groups(groups, scene.shape, None)
    owners = np.zeros(scene.shape, np.uint8)
    inside = scene > 0
    for each in groups.values():  # points of background, where the scene is 0
        inside[tuple(np.reshape(each, (-1, 3)).T)] = True
    reached = inside[evidence.box]
    if evidence.inside is not None:
        reached &= evidence.inside > 0
    inner = bounding_box(reached)
    if inner is None:
        return owners
    box = tuple(slice(a.start + b.start, a.start + b.stop) for a, b in zip(evidence.box, inner))
    origin = np.array([side.start for side in box])
    # The middle of a vessel may lie outside the mask, and so outside the box.
    within = reached[tuple((points.seeds - evidence.origin).T)]
    points = replace(points, seeds=points.seeds[within], owners=points.owners[within])
    if gpu is not None and evidence.device_bytes:
        from ..relative.cuda.contrast_owners import owners_by_contrast

        on_device: Any = evidence.contrast
        places = points.seeds - origin
        found = owners_by_contrast(
            on_device.array, evidence.noise, reached[inner], inner, places, points.owners,
            gpu, progress,
        )  # fmt: skip
    else:
        capacities = steps_of_noise(evidence.contrast[inner], evidence.noise)
        capacities[~reached[inner]] = 0
        options = DivisionOptions("cpu", True, "unlabelled")
        _, found, _ = divide_levels(capacities, points, origin, options, progress, Clock({}))
    owners[box] = share_unowned(found, reached[inner], progress)
    return owners


def with_ridges(
    evidence: "Evidence", vessels: Mapping[str, Any], background: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """The points of vessels, and the middle of the vessel near each.

    A click beside the middle of a vessel has little contrast itself, and would limit all its paths.
    A middle that two vessels claim, or a point of another group, counts for none.

    Parameters
    ----------
    evidence : Evidence
    vessels : mapping of str to array_like, shape (n, 3), integers K, J, I
    background : ndarray, shape (m, 3), optional
        The last group of the result, as it is.

    Returns
    -------
    dict of str to ndarray, shape (m, 3)
    """
    found: dict[str, list[tuple]] = {}
    claims: dict[tuple, set[str]] = {}
    for name, points in vessels.items():
        found[name] = list(map(tuple, np.reshape(points, (-1, 3)).tolist()))
        for voxel in found[name]:
            place = tuple((np.array(voxel) - evidence.origin).tolist())
            ridge = evidence.middle_near(place)[1]
            for each in (voxel, tuple((np.array(ridge) + evidence.origin).tolist())):
                claims.setdefault(each, set()).add(name)
    if background is not None and len(background):
        found[BACKGROUND_NAME] = list(map(tuple, background.tolist()))
        for voxel in found[BACKGROUND_NAME]:
            claims.setdefault(voxel, set()).add(BACKGROUND_NAME)
    for voxel, names in claims.items():
        if len(names) == 1:
            found[names.pop()].append(voxel)
    return {name: np.array(list(dict.fromkeys(each))) for name, each in found.items()}
