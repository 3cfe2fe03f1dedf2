"""JIT warm-up of several vessels and of dragged points: compiled, or loaded, before the first."""

import numpy as np

from FuzzyVesselCoreLib.jit.warm_up import WarmUp
from FuzzyVesselCoreLib.progress import Progress

SIDE = 24  # voxels


def try_out() -> None:
    """Divide two vessels; drag a point of one where there is contrast, and where there is none."""
    from ...contrast.evidence.vessel_evidence import vessel_evidence
    from ...contrast.live.live_labels import LiveLabels
    from ...contrast.live.max_tree import max_tree
    from ..division import divide_by_contrast
    from .live_vessels import LiveVessels

    volume = np.random.default_rng(0).normal(0, 1, (SIDE,) * 3).astype(np.float32)
    for place in (4, 20):
        volume[:, place - 1 : place + 2, place - 1 : place + 2] += 60
    unit = (1.0, 1.0, 1.0)
    for mask in (None, np.ones(volume.shape, np.uint8)):
        evidence = vessel_evidence(volume, unit, (4, 4, 4), mask)
        points = {"one": [(4, 4, 4)], "other": [(12, 20, 20)]}
        divide_by_contrast(evidence, volume.clip(0), points, Progress())
        live = LiveLabels(evidence, volume.shape, mask)
        live.labels([(4, 4, 4)])
        vessels = LiveVessels(live, unit)
        for at in ((12, 20, 20), (13, 20, 20), (12, 12, 12), (12, 12, 13), (14, 20, 20)):
            vessels.labels_on("cpu", {"one": [(4, 4, 4)], "other": [at]}, [(12, 4, 20)])
    tree = max_tree(volume, None, 50.0)
    tree.widest_from(tree.contrast > 60)  # as beside bone, of which there is none here


WARM_UP = WarmUp(try_out)
