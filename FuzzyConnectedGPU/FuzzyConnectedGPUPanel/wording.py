"""What the panel says of the errors and notes of its library."""

from collections.abc import Callable
from typing import Any

from slicer.i18n import tr as _

from FuzzyConnectedGPULib import input_errors
from FuzzyConnectedGPULib.contrast import ContrastThreshold
from FuzzyConnectedGPULib.thresholds import UNSURE, AutomaticThreshold
from FuzzyConnectedGPUMRML.result import SamePlaceError, UnsureNote
from FuzzyVesselCoreLib.mrml.points import LeftOutNote, OutsideError
from FuzzyVesselCoreLib.widgets import wording as common


def worded(said: Any) -> str:
    """Return a sentence for an error or a note, in the words of the panel."""
    for kind, sentence in SENTENCES.items():
        if isinstance(said, kind):
            return sentence(said) if callable(sentence) else sentence.format(**vars(said))
    return common.worded(said)


def _outside(said: Any) -> str:
    text = _("All points lie outside the box or mask: {points}. Move them, or enlarge it.")
    if said.volume:
        text = _("All points lie outside the volume {volume}: {points}. Move them into a vessel.")
    return text.format(volume=said.volume, points=", ".join(said.labels))


def _left_out(said: Any) -> str:
    text = _("Left out, because outside the box or mask: {points}.")
    if said.volume:
        text = _("Left out, because outside the volume {volume}: {points}.")
    return text.format(volume=said.volume, points=", ".join(said.labels))


def _solver(said: Any) -> str:
    if said.on_cpu:
        return _("The chosen solver runs on the CPU only: choose the CPU as device, or Exact.")
    return _("The chosen solver runs on a GPU only: choose a GPU as device, or Exact.")


def _nothing(said: Any) -> str:
    if said.in_mask:
        return _("No vessel was found in the box or mask: place points by hand, or enlarge it.")
    return _(
        "No vessel was found: place points by hand, or search in the organ whose vessels are "
        "wanted (Advanced, Where to search)."
    )


# Sentences, with the names of the error's own fields in braces, or functions that make one.
SENTENCES: dict[type, str | Callable[[Any], str]] = {
    OutsideError: _outside,
    LeftOutNote: _left_out,
    SamePlaceError: _(
        "'{seed}' (vessel) and '{background}' (not vessel) are at the same place: move or delete "
        "one."
    ),
    input_errors.BackgroundConnectedError: _(
        "A point of Not vessel is in the middle of what belongs to the vessel points: move it to "
        "where the result leaks."
    ),
    input_errors.NotFiniteError: _(
        "Voxels of the volume ({count}) hold no finite number: fill in the lowest brightness "
        "there first."
    ),
    input_errors.LargeValuesError: _(
        "The volume's values ({low:g} to {high:g}) are too large: scale them first."
    ),
    input_errors.VoxelTypeError: _(
        "Voxels of the type {voxel_type} cannot be used: convert the volume first (module Cast "
        "Scalar Volume)."
    ),
    input_errors.NothingTubularError: _nothing,
    input_errors.ConstantVolumeError: _(
        "Every voxel of the volume is {value:g}: choose another volume."
    ),
    input_errors.SharedVoxelError: _(
        "'{names[0]}' and '{names[1]}' have a point at the same place: move or delete one."
    ),
    input_errors.SolverDeviceError: _solver,
    input_errors.FaintClicksNote: _(
        "No vessel point differs from its surroundings by more than the noise: click into the "
        "middle of a vessel, or where it is brighter."
    ),
    input_errors.NoContrastNote: _(
        "A vessel point has no contrast to its surroundings: only voxels close by were added there."
    ),
    UnsureNote: lambda said: threshold_reason(said.threshold),
}


def threshold_reason(threshold: Any) -> str:
    """Return why a threshold was chosen; an empty text where there is nothing to say."""
    if isinstance(threshold, ContrastThreshold):
        text = _(
            "Vessels differ from their surroundings by at least {contrast:.3g}, {times:.1f} times "
            "the noise."
        )
        times = threshold.contrast / threshold.noise
        return text.format(contrast=threshold.contrast, times=times)
    if not isinstance(threshold, AutomaticThreshold):
        return ""
    leak = threshold.leak
    if leak is None:
        text = _("No leak into the surroundings was found.")
    elif leak.alike:
        text = _("The vessel points look like their surroundings.")
    else:
        text = _("Below {below:.3g} it leaks into the surroundings.").format(below=leak.below)
    unsure = threshold.confidence < UNSURE
    return _("Unsure: {reason}").format(reason=text) if unsure else text
