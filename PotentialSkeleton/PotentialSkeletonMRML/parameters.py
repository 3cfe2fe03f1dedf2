"""The panel's choices, kept in the scene."""

import json
from typing import Annotated, Any

from slicer import vtkMRMLLabelMapVolumeNode, vtkMRMLSegmentationNode
from slicer.i18n import tr as _
from slicer.parameterNodeWrapper import WithinRange, parameterNodeWrapper

from FuzzyVesselCoreLib.translation import LabelledEnum

from .objects import is_segmentation


class Detail(LabelledEnum):
    """How much of the object gets a centreline; the values are `skeletonize`'s levels."""

    CORE = 1, _("Trunks only")
    LIMBS = 2, _("All branches")
    CORNERS = 3, _("All branches and bumps")


class Method(LabelledEnum):
    """How forces are summed; the values are those of `PotentialSkeletonLib.FORCE_METHODS`."""

    AUTOMATIC = "auto", _("Automatic")
    FFT = "fft", _("Convolution (FFT)")
    DIRECT_SERIAL = "direct-serial", _("Direct sum, CPU")
    CUDA_SIMPLE = "cuda-simple", _("Direct sum, GPU, global memory")
    CUDA_CONSTANT = "cuda-constant", _("Direct sum, GPU, constant memory")
    CUDA_SHARED = "cuda-shared", _("Direct sum, GPU, shared memory")


class Device(LabelledEnum):
    """What computes."""

    AUTOMATIC = "auto", _("Automatic")
    CPU = "cpu", _("CPU")
    GPU = "cuda", _("GPU")


class Colouring(LabelledEnum):
    """What the colours of lines, tubes and curves tell."""

    RADIUS = "radius", _("Radius")
    BRANCH = "branch", _("Branch")
    GENERATION = "generation", _("Generation")
    TREE = "tree", _("Tree")


@parameterNodeWrapper
class PotentialSkeletonParameterNode:
    """The panel's choices, as of `PotentialSkeletonLogic.extract`, which cleans only if told to."""

    input: vtkMRMLLabelMapVolumeNode | vtkMRMLSegmentationNode | None
    segment: str = ""  # its ID
    segments: str = ""  # IDs as JSON, where there are several, one tree each
    level: Detail = Detail.LIMBS
    strength: Annotated[int, WithinRange(3, 9)] = 6
    dropIslands: Annotated[int, WithinRange(0, 1000000)] = 10
    closeTunnels: Annotated[float, WithinRange(0.0, 100.0)] = 2.0
    device: Device = Device.AUTOMATIC
    method: Method = Method.AUTOMATIC
    chargeDistance: Annotated[int, WithinRange(-1, 10)] = -1  # -1: automatic
    divergence: Annotated[float, WithinRange(0.0, 100.0)] = 20.0
    tubes: bool = False
    table: bool = True
    labelmap: bool = False
    curves: bool = False
    colouring: Colouring = Colouring.RADIUS


# Output of `extract` to the parameter that asks for it; the lines are always written.
WRITTEN = {
    "tubesNode": "tubes",
    "tableNode": "table",
    "labelmapNode": "labelmap",
    "curveNodes": "curves",
}


def segments_of(parameters: Any) -> list[str]:
    """The IDs of the chosen segments, one tree each; an empty one for a labelmap."""
    if not is_segmentation(parameters.input):
        return [""]
    return list(json.loads(parameters.segments)) if parameters.segments else [parameters.segment]


def options_of(parameters: Any) -> dict[str, Any]:
    """Return the arguments of `PotentialSkeletonLogic.extract` that parameters stand for."""
    return dict(
        strength=parameters.strength,
        level=parameters.level.value,
        divergence=parameters.divergence,
        charge_distance=None if parameters.chargeDistance == -1 else parameters.chargeDistance,
        method=parameters.method.value,
        device=parameters.device.value,
        drop_islands=parameters.dropIslands,
        close_tunnels=parameters.closeTunnels,
    )


def settings_text(parameters: Any) -> str:
    """Return a text of the settings; it differs where another run would give something else.

    The device does not count: results are the same on every one, but for rounding.
    """
    options = options_of(parameters)
    del options["device"]
    if parameters.level == Detail.CORE:  # which takes no seeds by divergence
        del options["divergence"]
    outputs = [name for name in WRITTEN.values() if getattr(parameters, name)]
    return json.dumps([options, outputs], sort_keys=True)
