"""What the panel says of the errors and notes of its library."""

from collections.abc import Callable
from typing import Any

from slicer.i18n import tr as _

from FuzzyConnectedGPULib import input_errors
from FuzzyConnectedGPULib.contrast import ContrastThreshold
from FuzzyConnectedGPULib.threshold.automatic import AutomaticThreshold
from FuzzyConnectedGPULib.threshold.choice import UNSURE
from FuzzyConnectedGPUMRML.result import SamePlaceError, UnsureNote
from FuzzyVesselCoreLib.mrml.points import LeftOutNote, OutsideError
from FuzzyVesselCoreLib.widgets import wording as common


def worded(said: Any) -> str:
    """Return a sentence for an error or a note, in the words of the panel."""
    for kind, sentence in SENTENCES.items():
        if isinstance(said, kind):
            return sentence(said)
    return common.worded(said)


def _outside(said: OutsideError) -> str:
    names = ", ".join(said.labels)
    if said.volume:
        text = _("All points lie outside the volume {volume}: {points}. Move them into a vessel.")
        return text.format(volume=said.volume, points=names)
    text = _("All points lie outside the box or mask: {points}. Move them, or enlarge it.")
    return text.format(points=names)


def _left_out(said: LeftOutNote) -> str:
    names = ", ".join(said.labels)
    if said.volume:
        text = _("Left out, because outside the volume {volume}: {points}.")
        return text.format(volume=said.volume, points=names)
    return _("Left out, because outside the box or mask: {points}.").format(points=names)


def _same_place(said: SamePlaceError) -> str:
    return _(
        "'{vessel}' (vessel) and '{other}' (not vessel) are at the same place: move or delete one."
    ).format(vessel=said.seed, other=said.background)


def _connected(said: input_errors.BackgroundConnectedError) -> str:
    return _(
        "A point of Not vessel is in the middle of what belongs to the vessel points: move it to "
        "where the result leaks."
    )


def _not_finite(said: input_errors.NotFiniteError) -> str:
    first = (
        _("1 voxel of the volume holds no finite number")
        if said.count == 1
        else _("{count} voxels of the volume hold no finite number").format(count=said.count)
    )
    return _("{what}: fill in the lowest brightness there first.").format(what=first)


def _large(said: input_errors.LargeValuesError) -> str:
    return _("The volume's values ({low:g} to {high:g}) are too large: scale them first.").format(
        low=said.low, high=said.high
    )


def _voxel_type(said: input_errors.VoxelTypeError) -> str:
    return _(
        "Voxels of the type {kind} cannot be used: convert the volume first (module Cast Scalar "
        "Volume)."
    ).format(kind=said.voxel_type)


def _constant(said: input_errors.ConstantVolumeError) -> str:
    return _("Every voxel of the volume is {value:g}: choose another volume.").format(
        value=said.value
    )


def _shared(said: input_errors.SharedVoxelError) -> str:
    first, second = said.names
    return _("'{first}' and '{second}' have a point at the same place: move or delete one.").format(
        first=first, second=second
    )


def _solver(said: input_errors.SolverDeviceError) -> str:
    if said.on_cpu:
        return _("The chosen solver runs on the CPU only: choose the CPU as device, or Exact.")
    return _("The chosen solver runs on a GPU only: choose a GPU as device, or Exact.")


def _unsure(said: UnsureNote) -> str:
    return threshold_reason(said.threshold)


def _nothing(said: input_errors.NothingTubularError) -> str:
    if said.in_mask:
        return _("No vessel was found in the box or mask: place points by hand, or enlarge it.")
    return _(
        "No vessel was found: place points by hand, or search in the organ whose vessels are "
        "wanted (Advanced, Where to search)."
    )


def _faint(said: input_errors.FaintClicksNote) -> str:
    return _(
        "No vessel point differs from its surroundings by more than the noise: click into the "
        "middle of a vessel, or where it is brighter."
    )


SENTENCES: dict[type, Callable[[Any], str]] = {
    OutsideError: _outside,
    LeftOutNote: _left_out,
    SamePlaceError: _same_place,
    input_errors.BackgroundConnectedError: _connected,
    input_errors.NotFiniteError: _not_finite,
    input_errors.LargeValuesError: _large,
    input_errors.VoxelTypeError: _voxel_type,
    input_errors.NothingTubularError: _nothing,
    input_errors.ConstantVolumeError: _constant,
    input_errors.SharedVoxelError: _shared,
    input_errors.SolverDeviceError: _solver,
    input_errors.FaintClicksNote: _faint,
    UnsureNote: _unsure,
}


def threshold_reason(threshold: Any) -> str:
    """Return why a threshold was chosen; an empty text where there is nothing to say."""
    if isinstance(threshold, ContrastThreshold):
        return _(
            "Vessels differ from their surroundings by at least {contrast:.3g}, {times:.1f} times "
            "the noise."
        ).format(contrast=threshold.contrast, times=threshold.contrast / threshold.noise)
    if not isinstance(threshold, AutomaticThreshold):
        return ""
    leak = threshold.leak
    if leak is None:
        text = _("No leak into the surroundings was found.")
    elif leak.alike:
        text = _("The vessel points look like their surroundings.")
    else:
        text = _("Below {below:.3g} it leaks into the surroundings.").format(below=leak.below)
    if threshold.confidence < UNSURE:
        return _("Unsure: {reason}").format(reason=text)
    return text
