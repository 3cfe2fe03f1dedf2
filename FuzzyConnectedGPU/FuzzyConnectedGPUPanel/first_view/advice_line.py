"""Shows the advice, with a link to the point that it speaks of."""

from typing import Any

from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML.vessels import vessels_of

from .advice import Situation, advice
from .seeds_section import placed
from .vessel_colors import several


class AdviceLine:
    """The line that says what to do next."""

    def __init__(self, panel: Any) -> None:
        self._panel, self._label = panel, panel.ui.adviceLabel
        self._label.connect("linkActivated(QString)", lambda _link: panel.seeds.show_odd_point())

    def show(self, parameters: Any) -> None:
        self._label.text = advice(self._situation(parameters))

    def _situation(self, parameters: Any) -> Situation:
        panel = self._panel
        volume = panel.threshold.measured(parameters)
        return Situation(
            has_volume=parameters.inputVolume is not None,
            volumes=panel.input.candidates(),
            why_not=panel.why_not_else() if parameters.inputVolume is not None else "",
            points=sum(map(placed, vessels_of(parameters))),
            several=several(parameters),
            running=panel.running.active,
            finding=panel.running.active and panel.seeds.finding,
            current=panel.is_current(),
            odd_point=self._odd_point(),
            millilitres=volume,
            share=panel.threshold.share(volume or 0.0),
            excess=panel.threshold.excess(parameters, volume or 0.0),
            problem=panel.problem,
        )

    def _odd_point(self) -> str:
        found = self._panel.seeds.odd_point()
        if found is None:
            return ""
        link = f'<a href="point"><b>{found.row.label}</b></a>'
        if found.others is None:
            return _("The point {point} is outside the volume: move or delete it.").format(
                point=link
            )
        return _(
            "The point {point} ({value:.4g}) is unlike the other vessel points ({others:.4g}): "
            "look whether it is in a vessel."
        ).format(point=link, value=found.row.intensity, others=found.others)
