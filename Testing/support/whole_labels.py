"""Labels of a whole scene by the functions of one machine: the reference of those over blocks."""

import numpy as np

from FuzzyConnectedGPULib.thresholds import binarize, fill_gaps
from FuzzyVesselCoreLib.voxels.masks import label_components


def whole_labels(
    scene,
    threshold,
    *,
    components="all",
    min_voxels=1,
    seeds=None,
    rounds=0,
    mask=None,
    barred=None,
):
    """The numbered components (int32) of the object that are taken."""
    found = fill_gaps(binarize(scene, threshold), rounds, mask, barred)
    labels, count = label_components(found.view(bool))
    sizes = np.bincount(labels.ravel(), minlength=count + 1)
    kept = sizes >= min_voxels
    kept[0] = False
    if components == "seeds":
        kept &= np.isin(np.arange(count + 1), labels[tuple(np.transpose(seeds))])
    if components == "largest" and kept.any():
        kept = np.arange(count + 1) == np.argmax(np.where(kept, sizes, 0))
    return label_components(kept[labels])[0]
