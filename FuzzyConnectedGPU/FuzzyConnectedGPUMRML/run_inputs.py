"""What a result was made of, as short texts that its connectedness map carries along."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyConnectedGPULib.contrast import ContrastThreshold
from FuzzyVesselCoreLib.geometry import voxels_to_points
from FuzzyVesselCoreLib.mrml.points import placed_points, points_in_volume
from FuzzyVesselCoreLib.mrml.provenance import (
    mask_fingerprint,
    note_voxels,
    rounded,
    voxels_changed,
)
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras

from .logic.run_options import ModelOptions

# Of a connectedness map's node: attributes with the texts, and references to what it belongs to.
INPUTS = "FuzzyVesselGPU.Inputs"
THRESHOLD_INPUTS = "FuzzyVesselGPU.ThresholdInputs"  # of a threshold that points have a say in
CONTRAST = "FuzzyVesselGPU.Contrast"  # and noise, of the model "contrast"
AUTOMATIC = "FuzzyVesselGPU.AutomaticThreshold"  # of the model "affinity", where a run chose it
VOLUME, SEEDS = "FuzzyVesselGPU.Volume", "FuzzyVesselGPU.Seeds"
# .. and of several vessels: their lists, in the order of the labels, and the division.
VESSELS, DIVISION = "FuzzyVesselGPU.Vessels", "FuzzyVesselGPU.Division"

CORRECTED = "cuda-kfoe-corrected"  # the solver that has corrections and directions


@dataclass(frozen=True, kw_only=True)
class Choices(ModelOptions):
    """What a connectedness map depends on beside its volume and points.

    Attributes
    ----------
    mask_node, segment_id, roi_node, background_node
        The nodes of a run, and the segment of the mask.
    """

    mask_node: Any = None
    segment_id: str = ""
    roi_node: Any = None
    background_node: Any = None


def inputs_text(volume_node: Any, seeds_node: Any, **choices: Any) -> str:
    """A text that differs wherever the connectedness may differ; the same after loading.

    Voxels of the volume are not looked at; `is_from` knows whether they were edited. Exact solvers
    give the same connectedness on every device, so the device does not count.

    Parameters
    ----------
    volume_node, seeds_node : nodes or None
    **choices
        Fields of `Choices`.

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
    chosen = Choices(**choices)
    mask_node, segment_id = chosen.mask_node, chosen.segment_id
    parts: list[Any] = [
        volume_node.GetName(),
        volume_node.GetImageData().GetDimensions(),
        sorted(centres(volume_node, points)),
        mask_node and (mask_node.GetName(), segment_id, mask_fingerprint(mask_node, segment_id)),
        chosen.roi_node and _box(chosen.roi_node),
    ]
    model = _of_affinity(chosen)
    if not model:
        # The first point counts more than the others, and background points change the scene.
        model = ["contrast", chosen.border or "drawn", centres(volume_node, points)[0]]
        model.append(_background(volume_node, chosen.background_node))
    return _hashed(parts + model)


def _of_affinity(chosen: Choices) -> list[Any]:
    """What counts of the model "affinity"; nothing where the model is another."""
    affinity, radius, side = chosen.affinity, chosen.radius, chosen.side
    variant = [chosen.corrections, chosen.directions]
    own = (affinity, radius, side, chosen.cut, chosen.solver, *variant)
    if chosen.model != "affinity" and (
        chosen.model is not None or all(value is None for value in own)
    ):
        return []
    estimate = affinity or (radius or 2, side or "both")
    parts = [estimate, round(chosen.cut or 0, 6), chosen.solver or "exact"]
    return parts + variant if chosen.solver == CORRECTED else parts


def threshold_text(volume_node: Any, background_node: Any) -> str:
    """A text of the background points that an automatic threshold or the filling of gaps heeds."""
    return _hashed([_background(volume_node, background_node)])


def _hashed(parts: list[Any]) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _background(volume_node: Any, background_node: Any) -> list:
    if volume_node is None or background_node is None:
        return []
    return sorted(centres(volume_node, placed_points(background_node)))


def centres(volume_node: Any, points: Any) -> list[tuple]:
    """Centres of the points' voxels, each once; no indices, as a file may turn an axis round."""
    if not points.labels:
        return []
    voxels = points_in_volume(volume_node, points.world)
    centres = rounded(voxels_to_points(voxels, ijk_to_ras(volume_node)), 2)
    return list(dict.fromkeys(map(tuple, centres)))


def _box(roi_node: Any) -> tuple:
    matrix = roi_node.GetObjectToWorldMatrix()
    axes = [[matrix.GetElement(row, column) for column in range(4)] for row in range(3)]
    return rounded(axes, 3), rounded(np.array(roi_node.GetSize()), 3), roi_node.GetInsideOut()


def mark(
    scene_node: Any,
    volume_node: Any,
    seeds_node: Any,
    text: str,
    threshold: Any = None,
    threshold_inputs: str | None = None,
    chosen: float | None = None,
    volume_time: int = 0,
) -> None:
    """Write on a connectedness map what it was computed from, and what its threshold means."""
    note_voxels(scene_node, volume_time)
    scene_node.SetAttribute(INPUTS, text)
    scene_node.SetAttribute(AUTOMATIC, None if chosen is None else repr(float(chosen)))
    contrast = isinstance(threshold, ContrastThreshold)
    meaning = f"{threshold.contrast!r} {threshold.noise!r}" if contrast else None
    scene_node.SetAttribute(CONTRAST, meaning)
    mark_threshold(scene_node, threshold_inputs)
    scene_node.SetNodeReferenceID(VOLUME, volume_node.GetID())
    scene_node.SetNodeReferenceID(SEEDS, seeds_node.GetID())
    for role in (VESSELS, DIVISION):
        scene_node.RemoveNodeReferenceIDs(role)


def mark_threshold(scene_node: Any, text: str | None) -> None:
    """Write on a connectedness map what its labels heeded besides; see `threshold_text`."""
    scene_node.SetAttribute(THRESHOLD_INPUTS, text)


def is_from(scene_node: Any, text: str, threshold_inputs: str | None = None) -> bool:
    """Whether a connectedness map was computed from inputs with these texts.

    It is not, either, once the voxels of its volume were edited.
    """
    if not text or scene_node is None or scene_node.GetAttribute(INPUTS) != text:
        return False
    if voxels_changed(scene_node, scene_node.GetNodeReference(VOLUME)):
        return False
    return threshold_inputs is None or threshold_inputs == scene_node.GetAttribute(THRESHOLD_INPUTS)


def contrast_threshold(scene_node: Any) -> ContrastThreshold | None:
    """The threshold of a scene of the model "contrast"; None for another scene."""
    text = scene_node.GetAttribute(CONTRAST) if scene_node is not None else None
    if not text:
        return None
    return ContrastThreshold(*map(float, text.split()))


def automatic_threshold(scene_node: Any) -> float | None:
    """The threshold that the run chose itself, or would have in the model "contrast"; or None."""
    contrast = contrast_threshold(scene_node)
    if contrast is not None:
        return float(contrast)
    text = scene_node.GetAttribute(AUTOMATIC) if scene_node is not None else None
    return float(text) if text else None
