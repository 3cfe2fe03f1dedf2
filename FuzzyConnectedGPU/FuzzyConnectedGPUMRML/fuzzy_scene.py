"""The fuzzy scene's node: the fingerprint of its inputs, its threshold, vessels and volumes."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from FuzzyConnectedGPULib.relative.vessels import highest_vessel
from FuzzyConnectedGPULib.scene import CONTRAST_THRESHOLD, volume_curve
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml import provenance, reading
from FuzzyVesselCoreLib.mrml.points import placed_points, points_in_volume
from FuzzyVesselCoreLib.mrml.provenance import once_per_edit, rounded
from FuzzyVesselCoreLib.mrml.writing import refer, referred
from FuzzyVesselCoreLib.translation import tr as _

from .vessel_lists import is_hand_over

# Of a fuzzy scene's node: attributes with texts, and references to what it belongs to.
INPUTS = "FuzzyVesselGPU.Inputs"  # their fingerprint
CONTRAST = "FuzzyVesselGPU.Contrast"  # and noise, of the model "contrast"
AUTOMATIC = "FuzzyVesselGPU.AutomaticThreshold"  # where a run chose it
VOLUME, SEEDS = "FuzzyVesselGPU.Volume", "FuzzyVesselGPU.Seeds"
# .. and of several vessels: their lists, in the order of the labels, and the division.
VESSELS, DIVIDED = "FuzzyVesselGPU.Vessels", "FuzzyVesselGPU.Division"
COUNT = "FuzzyVesselGPU.VesselCount"  # attribute: references to lists that were removed go


def fingerprint_of(volume_node: Any, lists: Sequence[Any], options: Any) -> str:
    """A text that stands for all inputs of a scene: all but the threshold and filled gaps.

    It differs wherever the scene may differ, and is the same after loading. Exact solvers give
    the same connectedness on every device, so the device does not count. Names of lists do not
    count, their order does; that of the volume counts, as in scenes that were saved before. Empty
    where there is no volume, or a vessel has no point.
    """
    if volume_node is None or volume_node.GetImageData() is None or not lists:
        return ""
    mask, roi = options.maskNode, options.roiNode
    if mask is not None:
        voxels = provenance.voxels_fingerprint(mask, options.maskSegmentID)
        mask = mask.GetName(), options.maskSegmentID, voxels + provenance.transform_text(mask)
    shared, moved = [mask, roi and _box(roi)], provenance.transform_text(volume_node)
    if moved and (mask or roi):  # which are in the world, points and voxels below the transform
        shared.append(moved)
    background, model, texts = sorted(_centres(volume_node, options.backgroundSeedsNode)), [], []
    if options.object_model == "affinity":
        model = [*_of_affinity(options), *([background] if background else [])]
    for node in lists:
        points = _centres(volume_node, node)
        if not points:
            return ""
        # In the model "contrast" the first point counts more than the others.
        own = model or ["contrast", options.border or "drawn", points[0], background]
        grid = [volume_node.GetName(), volume_node.GetImageData().GetDimensions()]
        texts.append(_hashed([*grid, sorted(points), *shared, *own]))
    for node in lists if len(lists) > 1 else ():
        given = placed_points(node, is_hand_over).indices
        numbers = [node.GetNthControlPointDescription(index) for index in given]
        texts.append(repr((numbers, _centres(volume_node, node, is_hand_over))))
    text = texts[0] if len(lists) == 1 else _hashed(texts)
    return f"{text} {provenance.volume_fingerprint(volume_node)}"


def note_inputs(scene_node: Any, division: Any, run: Any, found: Any) -> None:
    """Write into a fuzzy scene's node the inputs of a `Run`, and what it found."""
    automatic = repr(float(found.threshold)) if run.options.threshold is None else None
    figures = found.scene.least_contrast, found.scene.noise
    contrast = None if figures[0] is None else "{!r} {!r}".format(*figures)
    scene_node.SetAttribute(INPUTS, run.fingerprint)
    scene_node.SetAttribute(AUTOMATIC, automatic)
    scene_node.SetAttribute(CONTRAST, contrast)
    scene_node.SetAttribute(COUNT, division and str(len(run.lists)))
    refer(scene_node, VOLUME, [run.volume_node])
    refer(scene_node, SEEDS, run.lists[:1])
    refer(scene_node, VESSELS, run.lists if division else [])
    refer(scene_node, DIVIDED, [division] if division else [])


def is_made_of(scene_node: Any, volume_node: Any, fingerprint: Callable[[], str]) -> bool:
    """Whether a node holds the scene of a volume, of inputs with this `fingerprint_of`."""
    same = scene_node is not None and scene_node.GetNodeReference(VOLUME) is volume_node
    noted = (same and scene_node.GetAttribute(INPUTS)) or ""
    return bool(noted) and fingerprint().startswith(noted)  # earlier versions noted how it begins


def _of_affinity(chosen: Any) -> list[Any]:
    """What counts of the model "affinity"."""
    estimate = chosen.affinity or (chosen.radius or 2, chosen.side or "both")
    parts = [estimate, round(chosen.cut or 0, 6), chosen.solver or "exact"]
    if chosen.solver == "cuda-kfoe-corrected":
        parts += [chosen.corrections, chosen.directions]
    return parts


def _hashed(parts: list[Any]) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _centres(volume_node: Any, list_node: Any, accept: Any = None) -> list[tuple]:
    """Centres of the points' voxels, each once; no indices, as a file may turn an axis round."""
    if list_node is None:
        return []
    voxels = points_in_volume(volume_node, placed_points(list_node, accept).world)
    centres = rounded(reading.voxels_to_points(voxels, reading.ijk_to_ras(volume_node)), 2)
    return list(dict.fromkeys(map(tuple, centres)))


def _box(roi_node: Any) -> tuple:
    axes = reading.array_from_matrix(roi_node.GetObjectToWorldMatrix())[:3]
    return rounded(axes, 3), rounded(roi_node.GetSize(), 3), roi_node.GetInsideOut()


def vessels_of_scene(scene_node: Any) -> list[Any]:
    """The lists of the vessels that a fuzzy scene was divided among, in their order.

    None for one vessel, and where a list was removed since: labels would be those of others.
    """
    if scene_node is None or scene_node.GetNodeReference(DIVIDED) is None:
        return []
    there = referred(scene_node, VESSELS)
    return there if len(there) == int(scene_node.GetAttribute(COUNT) or len(there)) else []


def division_of(scene_node: Any, shape: tuple[int, ...]) -> tuple[list, np.ndarray | None]:
    """The lists of a scene, and its division as it was saved; None for one vessel."""
    if scene_node.GetNodeReference(DIVIDED) is None:
        return [scene_node.GetNodeReference(SEEDS)], None
    lists = vessels_of_scene(scene_node)
    owners = reading.voxels_of(scene_node.GetNodeReference(DIVIDED))
    if owners.shape != shape or not lists or highest_vessel(owners) > len(lists):
        text = _("The vessels' lists of points, or their division, have changed: press Apply.")
        raise InputError(text)
    return lists, owners


def by_contrast(scene_node: Any) -> bool:
    """Whether a node holds a scene of the model "contrast"."""
    return scene_node is not None and bool(scene_node.GetAttribute(CONTRAST))


def contrast_text(scene_node: Any) -> str:
    """What the least contrast of such a scene means in the image; empty for another scene."""
    if not by_contrast(scene_node):
        return ""
    least, noise = map(float, scene_node.GetAttribute(CONTRAST).split())
    text = _(
        "Vessels differ from their surroundings by at least {contrast:.3g}, {times:.1f} times "
        "the noise."
    )
    return text.format(contrast=least, times=least / noise)


def recorded_threshold(scene_node: Any) -> float | None:
    """The threshold that the run chose itself, or would have in the model "contrast"; or None."""
    if by_contrast(scene_node):
        return CONTRAST_THRESHOLD
    text = scene_node.GetAttribute(AUTOMATIC) if scene_node is not None else None
    return float(text) if text else None


# ---- values and volumes


class VolumeCurve:
    """Volume in millilitres at every threshold of a fuzzy scene (vtkMRMLScalarVolumeNode).

    `thresholds` (65535, float32) rise to 1, `millilitres` fall; `total` is the whole image's.
    """

    def __init__(self, values: np.ndarray, voxel_ml: float) -> None:
        self.thresholds, counts = volume_curve(values)
        self.millilitres, self.total = counts * voxel_ml, values.size * voxel_ml

    def at(self, threshold: float) -> float:
        """The volume (ml) of all that is connected with at least the threshold (above 0)."""
        index = int(np.searchsorted(self.thresholds, np.float32(threshold)))
        return float(self.millilitres[min(index, len(self.millilitres) - 1)])


def scene_curve(scene_node: Any) -> VolumeCurve:
    """The curve of a fuzzy scene, which is computed once per edit."""
    values, voxel = scene_array(scene_node), voxel_ml(scene_node)
    key = "curve", voxel
    return once_per_edit(scene_node.GetImageData(), key, lambda: VolumeCurve(values, voxel))


def voxel_ml(volume_node: Any) -> float:
    return reading.voxel_volume(reading.ijk_to_ras(volume_node)) / 1000


def labelled_millilitres(labelmap_node: Any, label: int | None = None) -> float | None:
    """The volume of a label, or of all that is not 0; None where there is no image."""
    image = labelmap_node.GetImageData() if labelmap_node is not None else None
    if image is None or image.GetPointData().GetScalars() is None:
        return None
    labels = reading.voxels_of(labelmap_node, copy=False)
    counts = once_per_edit(
        image, ("labels",), lambda: np.bincount(labels[labels > 0], minlength=256)
    )
    found = counts.sum() if label is None else counts[label]
    return float(found) * voxel_ml(labelmap_node)


def scene_array(scene_node: Any) -> np.ndarray:
    """The values (K, J, I) of a fuzzy scene, the node's own; `InputError` if not within 0..1."""
    if scene_node is None:
        raise InputError(_("There is no connectedness map: run the segmentation first."))
    values = reading.voxels_of(scene_node, copy=False)
    low, high = scene_node.GetImageData().GetScalarRange()  # which VTK caches
    if not 0 <= low <= high <= 1:
        text = _("{scene} is not a connectedness map: its values are not all in 0..1.")
        raise InputError(text.format(scene=reading.node_name(scene_node)))
    return values
