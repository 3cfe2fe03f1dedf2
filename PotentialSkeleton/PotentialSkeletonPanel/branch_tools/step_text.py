"""Steps as sentences."""

from typing import Any

from slicer.i18n import tr as _

# Kind of pruning: what a person reads, unit behind the number, number to begin with, digits.
KINDS = {
    "length": (_("shorter than"), _(" mm"), 10.0, 1),
    "radius": (_("thinner than (radius)"), _(" mm"), 1.0, 1),
    "spur ratio": (_("short for their width"), _(" x radius"), 2.0, 1),
    "generation": (_("beyond generation"), "", 4.0, 0),
}
EDITS = {
    "cut": _("Branch cut"),
    "remove": _("Branch removed"),
    "bridge": _("Gap bridged"),
}


def step_text(step: Any) -> str:
    """Return one step in words."""
    if step.kind in EDITS:
        return EDITS[step.kind]
    words, unit, _begin, digits = KINDS[step.kind]
    if step.kind == "spur ratio":
        return _("Removed: shorter than {value:.1f} times the radius at their start").format(
            value=step.value
        )
    return _("Removed: {words} {value}{unit}").format(
        words=words, value=f"{step.value:.{digits}f}", unit=unit
    )
