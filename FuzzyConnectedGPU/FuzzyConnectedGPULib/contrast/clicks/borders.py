"""Where a vessel ends: as experts draw it, or where its contrast has fallen to a half.

Experts draw liver vessels at 20 to 30 % of their contrast, which is where the clicks' thresholds
lie. The image of a sharp edge passes half of the contrast where the edge is.
"""

import numpy as np
from scipy import ndimage

CORE = 2.5  # depth, in smallest spacings, from which on a voxel shows the vessel's own contrast
REACH = 4.0  # from the border to the core
SHARE = 0.5
LEAST_CORE = 1e-4  # share of core voxels within the reach


def move_to_half_contrast(scene, evidence, cut):
    """Lower the scene, in place, outside of half the contrast of the vessel's core.

    Vessels without a core, thinner than about five voxels, stay as they are: their own contrast
    is lowered by their surroundings, so that a half of it says nothing.

    Parameters
    ----------
    scene : ndarray, float32
    evidence : Evidence
    cut : float
        Of the scene: from it on a voxel belongs to the object.
    """
    labels = scene >= cut
    if not labels.any():
        return
    box = ndimage.find_objects(labels.view(np.uint8))[0]
    labels, contrast = labels[box], evidence.contrast[box]
    depth = ndimage.distance_transform_edt(np.pad(labels, 1), sampling=evidence.unit)
    depth = depth[1:-1, 1:-1, 1:-1]
    core = depth >= CORE
    size = [2 * round(REACH / u) + 1 for u in evidence.unit]
    near = ndimage.uniform_filter(core.astype(np.float32), size)
    total = ndimage.uniform_filter(np.where(core, contrast, np.float32(0)), size)
    half = SHARE * total / np.maximum(near, np.float32(LEAST_CORE))
    shell = (near > LEAST_CORE) & ~core & (contrast < half)
    own = np.maximum(contrast, np.float32(0))
    lowered = own / np.maximum(own + np.maximum(half, 0), np.float32(1e-30))
    part = scene[box]
    part[shell] = np.minimum(part, lowered)[shell]
