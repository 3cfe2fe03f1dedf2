"""What a fuzzy scene was computed from, as a short text that the scene node carries along."""

import hashlib

from FuzzyConnectedGPULib.contrast import ContrastThreshold
from FuzzyVesselCoreLib.geometry import voxels_to_points
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras, placed_points, points_in_volume

# Of a fuzzy scene's node: the attribute with the text, and references to what it belongs to.
INPUTS = "FuzzyVesselGPU.Inputs"
CONTRAST = "FuzzyVesselGPU.Contrast"  # and noise, of the model "contrast"
VOLUME, SEEDS = "FuzzyVesselGPU.Volume", "FuzzyVesselGPU.Seeds"


def inputs_text(
    volume_node,
    seeds_node,
    *,
    mask_node=None,
    segment_id="",
    roi_node=None,
    background_node=None,
    model=None,
    border=None,
    affinity=None,
    radius=None,
    side=None,
    cut=None,
    solver=None,
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
    parts = [
        volume_node.GetName(),
        volume_node.GetImageData().GetDimensions(),
        sorted(_centres(volume_node, points)),
        mask_node and (mask_node.GetName(), segment_id),
        roi_node and _box(roi_node),
    ]
    own = (affinity, radius, side, cut, solver)
    if model == "affinity" or (model is None and any(value is not None for value in own)):
        parts += [affinity or (radius or 2, side or "both"), round(cut or 0, 6), solver or "exact"]
    else:
        # The first point counts more than the others, and background points change the scene.
        background = [] if background_node is None else placed_points(background_node)
        first = _centres(volume_node, points)[0]
        parts += [
            "contrast",
            border or "drawn",
            first,
            background and sorted(_centres(volume_node, background)),
        ]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _centres(volume_node, points):
    """Centres of the points' voxels, each once; no indices, as a file may turn an axis round."""
    voxels = points_in_volume(volume_node, points.world)
    centres = voxels_to_points(voxels, ijk_to_ras(volume_node)).round(2) + 0.0
    return list(dict.fromkeys(map(tuple, centres.tolist())))


def _box(roi_node):
    matrix = roi_node.GetObjectToWorldMatrix()
    axes = [round(matrix.GetElement(row, column), 3) for row in range(3) for column in range(4)]
    return axes, [round(size, 3) for size in roi_node.GetSize()], roi_node.GetInsideOut()


def mark(scene_node, volume_node, seeds_node, text, threshold=None):
    """Write on a fuzzy scene what it was computed from, and what its own threshold means."""
    scene_node.SetAttribute(INPUTS, text)
    contrast = isinstance(threshold, ContrastThreshold)
    meaning = f"{threshold.contrast!r} {threshold.noise!r}" if contrast else None
    scene_node.SetAttribute(CONTRAST, meaning)
    scene_node.SetNodeReferenceID(VOLUME, volume_node.GetID())
    scene_node.SetNodeReferenceID(SEEDS, seeds_node.GetID())


def is_from(scene_node, text):
    """Whether a fuzzy scene was computed from inputs with this text."""
    return bool(text) and scene_node is not None and scene_node.GetAttribute(INPUTS) == text


def contrast_threshold(scene_node):
    """The threshold of a scene of the model "contrast"; None for another scene."""
    text = scene_node.GetAttribute(CONTRAST) if scene_node is not None else None
    if not text:
        return None
    return ContrastThreshold(*map(float, text.split()))
