"""From input nodes to the outcome of a segmentation, by the module's logic."""

from argparse import Namespace
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..progress_bar import Stopwatch
from .inputs import Inputs

# Beyond it the surface takes longer than everything else; Slicer makes it on a click.
MAX_SURFACE_VOXELS = 1_000_000
# Opacity of the vessels in 3D where there are centrelines in them.
CLEAR = 0.35


@dataclass
class Outcome:
    """What came out.

    Attributes
    ----------
    result : FuzzyConnectedGPUResult
    segmentation : vtkMRMLSegmentationNode
    labels : ndarray of uint8, (K, J, I)
        1 in the vessels.
    threshold : dict
        "value", "chosen", and "confidence" and "reason" where it was chosen automatically.
    warnings : list of str
    dice : float or None
        Against the known vessels of a phantom.
    fill_gaps : int
        Rounds in which gaps were filled.
    label_formats : tuple of str
        Of the labels, beside .nrrd.
    """

    result: Any
    segmentation: Any
    labels: np.ndarray
    threshold: dict
    warnings: list[str] = field(default_factory=list)
    dice: float | None = None
    fill_gaps: int = 0
    label_formats: tuple[str, ...] = ()


def segment(inputs: Inputs, options: Namespace, watch: Stopwatch) -> Outcome:
    """Let the module's logic segment the volume.

    Raises
    ------
    FuzzyVesselError
        The inputs do not fit each other, or the device fails.
    Cancelled
    """
    import slicer

    from FuzzyConnectedGPU import FuzzyConnectedGPULogic

    segmentation = slicer.mrmlScene.AddNewNodeByClass(
        "vtkMRMLSegmentationNode", f"{inputs.volume.GetName()} vessels"
    )
    logic = FuzzyConnectedGPULogic()
    if getattr(options, "automatic_seeds", 0):
        watch.stage("Finding seeds")
        inputs.seeds = logic.findSeeds(
            inputs.volume,
            maskNode=inputs.mask,
            count=options.automatic_seeds,
            seedsNode=inputs.seeds,
            device=options.device,
            progress=watch.progress,
        )
    watch.stage("Computing connectedness")
    run = logic.segmentSeveral if len(inputs.vessels) > 1 else logic.segment
    result = run(
        inputs.volume,
        inputs.vessels if len(inputs.vessels) > 1 else inputs.seeds,
        backgroundSeedsNode=inputs.background,
        maskNode=inputs.mask,
        segmentationNode=segmentation,
        progress=watch.progress,
        **_parameters(options),
    )
    watch.stage("Making the surface")
    labels = slicer.util.arrayFromVolume(result.labelmapNode)
    segmentation.CreateDefaultDisplayNodes()
    if len(inputs.vessels) > 1:  # one image with their labels, which other programs read, too
        segmentation.GetSegmentation().CollapseBinaryLabelmaps(False)
    if np.count_nonzero(labels) <= MAX_SURFACE_VOXELS:
        segmentation.CreateClosedSurfaceRepresentation()
    return Outcome(
        result,
        segmentation,
        (labels > 0).astype(np.uint8),
        _threshold(result.threshold, options),
        warnings=[*inputs.notes, *result.warnings],
        fill_gaps=options.fill_gaps,
        label_formats=options.label_formats,
    )


def dice(labels: np.ndarray, truth: np.ndarray) -> float:
    """Return Dice's coefficient of two masks, 0..1."""
    both, total = np.count_nonzero(labels & truth), np.count_nonzero(labels)
    total += np.count_nonzero(truth)
    return float(2 * both / max(1, int(total)))


def _parameters(options):
    """Keyword arguments of the logic that have the options' names."""
    names = ("model", "border", "threshold", "cut", "solver", "device", "radius", "side")
    return {name: getattr(options, name) for name in names} | {"fillGaps": options.fill_gaps}


def _threshold(value, options):
    """The threshold and how it was chosen, as the report has it."""
    found = {"value": float(value)}
    if options.threshold is not None:
        return {**found, "chosen": "by the user"}
    if hasattr(value, "contrast"):
        known = {"contrast": value.contrast, "noise": value.noise, "reason": value.reason}
        return {**found, "chosen": "from the seeds' contrast", **known}
    if not hasattr(value, "confidence"):
        return {**found, "chosen": "just above the background seeds"}
    known = {"confidence": value.confidence, "reason": value.reason}
    return {**found, "chosen": "automatically", **known}
