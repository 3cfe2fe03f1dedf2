"""The one line that says what to do next."""

from dataclasses import dataclass
from typing import Any

from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML.vessels import vessels_of

LEAK_SHARE = 0.25  # of the voxels that are searched; vessels are a few per cent
LEAK_EXCESS = 3.0  # times the volume of the automatic threshold


@dataclass(frozen=True)
class Situation:
    """What the advice depends on."""

    has_volume: bool = False
    why_not: str = ""  # what else stands against a run
    points: int = 0  # of vessels, that are placed
    placing: bool = False  # whether the mouse places points just now
    running: bool = False
    finding: bool = False
    following: bool = False  # whether the result follows the points by itself
    current: bool = False
    odd_point: str = ""  # a sentence about a point that disagrees with the others
    faint: str = ""  # a sentence about points without contrast to their surroundings
    millilitres: float | None = None  # of the result; None where there is none
    share: float = 0.0  # of the image that the result fills
    excess: float = 1.0  # how many times larger it is than that of the automatic threshold
    problem: bool = False  # whether the status line says what stands against the last run
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
        return failed + " " + _("What is shown is the result of the run before.")
    if situation.odd_point or situation.faint:
        return situation.odd_point or situation.faint
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


class AdviceLine:
    """Shows the advice, with a link to the point that it speaks of."""

    def __init__(self, panel: Any) -> None:
        self._panel, self._label = panel, panel.ui.adviceLabel
        self._label.connect("linkActivated(QString)", lambda _link: panel.seeds.show_odd_point())

    def show(self, parameters: Any) -> None:
        self._label.text = advice(self._situation(parameters))

    def _situation(self, parameters: Any) -> Situation:
        panel, lists = self._panel, vessels_of(parameters)
        volume, running = panel.threshold.measured(parameters), panel.running.active
        return Situation(
            has_volume=parameters.inputVolume is not None,
            why_not=panel.why_not_else() if parameters.inputVolume is not None else "",
            points=sum(each.GetNumberOfDefinedControlPoints() for each in lists),
            placing=bool(panel.seeds.placing.active),
            several=len(lists) > 1,
            running=running,
            finding=running and panel.seeds.finding,
            following=parameters.autoUpdate and panel.following.working,
            current=panel.is_current(),
            odd_point=self._odd_point(),
            faint=self._faint() if volume is not None else "",
            millilitres=volume,
            share=panel.threshold.share(volume or 0.0),
            excess=panel.threshold.excess(parameters, volume or 0.0),
            problem=panel.problem,
        )

    def _odd_point(self) -> str:
        found = self._panel.seeds.odd_point()
        if found is None:
            return ""
        if found.others is None:
            text = _("The point {point} is outside the volume: move or delete it.")
            return text.format(point=_link(found.row))
        return _(
            "The point {point} ({value:.4g}) is unlike the other vessel points ({others:.4g}): "
            "look whether it is in a vessel."
        ).format(point=_link(found.row), value=found.row.intensity, others=found.others)

    def _faint(self) -> str:
        rows = self._panel.seeds.faint()
        if not rows:
            return ""
        text = _(
            "{points}: no contrast to the surroundings, so next to nothing was added there. Move "
            "it into the middle of a vessel, or delete it."
        )
        return text.format(points=", ".join(map(_link, rows)))


def _link(row: Any) -> str:
    return f'<a href="point"><b>{row.label}</b></a>'
