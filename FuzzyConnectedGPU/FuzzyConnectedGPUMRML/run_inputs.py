"""What a fuzzy scene was computed from, as a short text that the scene node carries along."""

import hashlib

import numpy as np

from FuzzyVesselCommon.geometry import voxels_to_points
from FuzzyVesselCommon.mrml import ijk_to_ras, placed_points, points_in_volume

# Of a fuzzy scene's node: the attribute with the text, and references to what it belongs to.
INPUTS = "FuzzyVesselGPU.Inputs"
VOLUME, SEEDS = "FuzzyVesselGPU.Volume", "FuzzyVesselGPU.Seeds"


def inputs_text(
    volume_node,
    seeds_node,
    *,
    mask_node=None,
    segment_id="",
    roi_node=None,
    affinity=None,
    radius=2,
    side="both",
    cut=0.0,
    solver="exact",
):
    """A text that differs wherever the fuzzy scene may differ; the same after saving and loading.

    Voxels of the volume and the mask are not looked at: who changes them must know it. Exact
    solvers give the same scene on every device, so the device does not count.

    Returns
    -------
    str
        Empty where there is no volume or no seed.
    """
    if volume_node is None or seeds_node is None or volume_node.GetImageData() is None:
        return ""
    points = placed_points(seeds_node)
    if not points.labels:
        return ""
    # Centres of voxels, not their indices: a file may turn an axis of the volume round.
    voxels = np.unique(points_in_volume(volume_node, points.world), axis=0)
    centres = voxels_to_points(voxels, ijk_to_ras(volume_node)).round(2) + 0.0
    parts = [
        volume_node.GetName(),
        volume_node.GetImageData().GetDimensions(),
        sorted(centres.tolist()),
        mask_node and (mask_node.GetName(), segment_id),
        roi_node and _box(roi_node),
        affinity or (radius, side),
        round(cut, 6),
        solver,
    ]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _box(roi_node):
    matrix = roi_node.GetObjectToWorldMatrix()
    axes = [round(matrix.GetElement(row, column), 3) for row in range(3) for column in range(4)]
    return axes, [round(size, 3) for size in roi_node.GetSize()], roi_node.GetInsideOut()


def mark(scene_node, volume_node, seeds_node, text):
    """Write on a fuzzy scene what it was computed from."""
    scene_node.SetAttribute(INPUTS, text)
    scene_node.SetNodeReferenceID(VOLUME, volume_node.GetID())
    scene_node.SetNodeReferenceID(SEEDS, seeds_node.GetID())


def is_from(scene_node, text):
    """Whether a fuzzy scene was computed from inputs with this text."""
    return bool(text) and scene_node is not None and scene_node.GetAttribute(INPUTS) == text
