"""The one line that says what to do next."""

from dataclasses import dataclass

from slicer.i18n import tr as _

LEAK_SHARE = 0.25  # of the voxels that are searched; vessels are a few per cent
LEAK_EXCESS = 3.0  # times the volume of the automatic threshold


@dataclass(frozen=True)
class Situation:
    """What the advice depends on.

    Attributes
    ----------
    why_not : str
        What else stands against a run.
    volumes : int
        Volumes in the scene.
    points : int
        Vessel points that are placed.
    odd_point : str
        A sentence about a point that disagrees with the others, or an empty text.
    millilitres : float or None
        Of the result; None where there is none.
    share : float
        Of the image that the result fills.
    excess : float
        How many times larger it is than that of the automatic threshold.
    problem : bool
        Whether the status line says what stands against the last run.
    several : bool
        Whether there are several vessels.
    """

    has_volume: bool = False
    volumes: int = 0
    why_not: str = ""
    points: int = 0
    running: bool = False
    finding: bool = False
    current: bool = False
    odd_point: str = ""
    millilitres: float | None = None
    share: float = 0.0
    excess: float = 1.0
    problem: bool = False
    several: bool = False


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
        return failed + " " + _("What is shown is the result of the run before.")
    if situation.odd_point:
        return situation.odd_point
    if situation.millilitres is None:
        return _("Press <b>Apply</b>. One point in each vessel tree is enough to begin with.")
    if not situation.current:
        return _("The result is of earlier points or settings: press <b>Apply</b>.")
    return _with_a_result(situation)


def _before_a_result(situation: Situation) -> str:
    if not situation.has_volume:
        if not situation.volumes:
            return _("Load a CT or MR angiography, or take one from the module <i>Sample Data</i>.")
        return _("Choose the <b>Volume</b> with the vessels.")
    if not situation.points and not situation.why_not:
        return _(
            "Click into a vessel: press <b>Place</b> beside <b>Vessels</b>, or point at one in a "
            "slice and press the key <b>A</b>."
        )
    return situation.why_not


def _with_a_result(situation: Situation) -> str:
    if not situation.millilitres:
        return _(
            "Nothing was found: move the slider to <b>More</b>, or click into the middle of a "
            "vessel."
        )
    if situation.share > LEAK_SHARE:
        leak = _("It leaks: the result fills {share:.0%} of the image.")
        return leak.format(share=situation.share) + " " + _against_leaks()
    if situation.excess > LEAK_EXCESS:
        leak = _("It seems to leak: {now:.0f} ml; the automatic choice gives {automatic:.0f} ml.")
        automatic = situation.millilitres / situation.excess
        leak = leak.format(now=situation.millilitres, automatic=automatic)
        return leak + " " + _against_leaks()
    if situation.several:
        return _(
            "Is a branch in the wrong vessel? Select its own vessel, point at where the branch "
            "begins and press the key <b>H</b>. Does it leak? Click there with <b>Not vessel</b>."
        )
    return _(
        "Does it leak? Click there with <b>Not vessel</b>. Is a branch missing? Click it with "
        "<b>Vessels</b>."
    )


def _against_leaks() -> str:
    return _(
        "Click there with <b>Not vessel</b>, move the slider to <b>Less</b>, or search in a box or "
        "mask (<b>Advanced</b>)."
    )
