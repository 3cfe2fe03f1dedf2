"""What the panel says of the errors and notes of its library."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from slicer.i18n import tr as _

from FuzzyConnectedGPULib import input_validation
from FuzzyVesselCoreLib.widgets.wording import common_sentence


def worded(said: Any) -> str:
    """Return a sentence for an error or a note, in the words of the panel."""
    for kind, sentence in SENTENCES.items():
        if isinstance(said, kind):
            return sentence(said) if callable(sentence) else sentence.format(**vars(said))
    return common_sentence(said)


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
    input_validation.BackgroundConnectedError: _(
        "A point of Not vessel is in the middle of what belongs to the vessel points: move it to "
        "where the result leaks."
    ),
    input_validation.NotFiniteError: _(
        "Voxels of the volume ({count}) hold no finite number: fill in the lowest brightness "
        "there first."
    ),
    input_validation.LargeValuesError: _(
        "The volume's values ({low:g} to {high:g}) are too large: scale them first."
    ),
    input_validation.VoxelTypeError: _(
        "Voxels of the type {voxel_type} cannot be used: convert the volume first (module Cast "
        "Scalar Volume)."
    ),
    input_validation.NothingTubularError: _nothing,
    input_validation.ConstantVolumeError: _(
        "Every voxel of the volume is {value:g}: choose another volume."
    ),
    input_validation.SharedVoxelError: _(
        "'{names[0]}' and '{names[1]}' have a point at the same place: move or delete one."
    ),
    input_validation.SolverDeviceError: _solver,
}


def millilitres(volume: float) -> str:
    """A volume in ml as a user reads it."""
    if volume >= 100:
        return _("{volume:.0f} ml").format(volume=volume)
    return _("{volume:.3g} ml").format(volume=volume)


# ---- The one line that says what to do next

NO_POINTS = _("Place at least one point inside the vessels.")
LEAK_SHARE = 0.25  # of the voxels that are searched; vessels are a few per cent
LEAK_EXCESS = 3.0  # times the volume of the automatic threshold


@dataclass(frozen=True)
class Situation:
    """What the advice depends on."""

    has_volume: bool = False
    why_not: str = ""  # why else a run cannot begin
    points: int = 0  # of vessels, that are placed
    placing: bool = False  # whether the mouse places points just now
    running: bool = False
    finding: bool = False
    following: bool = False  # whether the result follows the points by itself
    current: bool = False
    odd_point: str = ""  # a sentence about one that disagrees with others or has no contrast
    millilitres: float | None = None  # of the result; None where there is none
    share: float = 0.0  # of the image that the result fills
    excess: float = 1.0  # how many times larger it is than that of the automatic threshold
    problem: bool = False  # whether the status line says why the last run failed
    several: bool = False  # whether there are several vessels


def advice(situation: Situation) -> str:
    """What to do next, as rich text for a label."""
    if situation.finding:
        return _("Looking for vessels.")
    if situation.running:
        return _("Segmenting. You can go on placing points meanwhile.")
    before = _before_a_result(situation)
    if before:
        return before
    if situation.problem:
        failed = _("The last run failed. Fix the problem below, then press <b>Apply</b>.")
        if situation.millilitres is None:
            return failed
        return failed + " " + _("What is shown is the result of the previous run.")
    if situation.odd_point:
        return situation.odd_point
    if situation.following and not situation.current:
        return _("The result follows the points by itself.")
    if situation.millilitres is None:
        return _("Press <b>Apply</b>. One point in each vessel tree is enough to begin with.")
    if not situation.current:
        return _("The result is of earlier points or settings: press <b>Apply</b>.")
    return _with_a_result(situation)


def _before_a_result(situation: Situation) -> str:
    if not situation.has_volume:
        return _(
            "Load a CT or MR angiography, or take one from the module <i>Sample Data</i>; then "
            "choose it as <b>Volume</b>."
        )
    if situation.points or situation.why_not:
        return situation.why_not
    if situation.placing:
        return _("Click into a vessel in a slice now; a right click ends placing.")
    return _(
        "Click into a vessel: press <b>Place</b> beside <b>Vessels</b>, or point at one in a "
        "slice and press the key <b>A</b>."
    )


def _with_a_result(situation: Situation) -> str:
    against_leaks = _(
        "Click there with <b>Not vessel</b>, move the slider to <b>Less</b>, or search in a box or "
        "mask (<b>Advanced</b>)."
    )
    if not situation.millilitres:
        return _(
            "Nothing was found: move the slider to <b>More</b>, or click into the middle of a "
            "vessel."
        )
    if situation.share > LEAK_SHARE:
        leak = _("It leaks: the result fills {share:.0%} of the image.")
        return leak.format(share=situation.share) + " " + against_leaks
    if situation.excess > LEAK_EXCESS:
        leak = _("It seems to leak: {now:.0f} ml; the automatic choice gives {automatic:.0f} ml.")
        automatic = situation.millilitres / situation.excess
        leak = leak.format(now=situation.millilitres, automatic=automatic)
        return leak + " " + against_leaks
    if situation.several:
        return _(
            "Is a branch in the wrong vessel? Select its own vessel, point at where the branch "
            "begins and press the key <b>H</b>. Does it leak? Click there with <b>Not vessel</b>."
        )
    return _(
        "Does it leak? Click there with <b>Not vessel</b>. Is a branch missing? Click it with "
        "<b>Vessels</b>. Two vessels in one? <b>Add vessel</b> separates them."
    )
