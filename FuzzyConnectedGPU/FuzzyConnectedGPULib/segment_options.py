"""Options of `segment`, validated once."""

from dataclasses import dataclass
from typing import Any

from FuzzyVesselCoreLib.errors import InputError

from .affinity.gaussian_affinity import GaussianAffinity
from .threshold.choice import check_threshold
from .threshold.gaps import check_rounds

MODELS = ("contrast", "affinity")
_OF_AFFINITY = (
    *("affinity", "radius", "side", "cut", "solver"),
    *("corrections", "directions"),
)


@dataclass(frozen=True)
class SegmentOptions:
    """How to segment: what does not depend on the volume's grid.

    Attributes
    ----------
    model : {"contrast", "affinity"}, optional
        "contrast", the default: contrast to the local background, connected from the clicks (see
        `contrast`). "affinity": the papers' affinity with one threshold for the whole scene; the
        default where one of its own parameters, `affinity`, `radius`, `side`, `cut`,
        `solver`, `corrections` or `directions`, is given.
    border : {"drawn", "half"}, optional
        For the model "contrast": where experts draw it (the default; 20 to 30 % of the contrast in
        liver vessels), or where the contrast has fallen to a half, for vessels from about five
        voxels on.
    affinity : GaussianAffinity, optional
        For the model "affinity"; by default `estimate_affinity` with `radius` (2) and `side`
        ("both").
    cut, solver, corrections, directions
        For the model "affinity"; as in `connectedness`.
    threshold : float, optional
        Above 0, up to 1. By default 0.5 in the model "contrast" (lower: more, higher: less), and
        the result of `choose_threshold` in the model "affinity".
    device : str
        As in `connectedness`.
    fill_gaps : int
        Rounds of `gaps.fill_gaps`, which adds voxels that noise left out of a wide vessel.

    Raises
    ------
    InputError
        The model is unknown, or threshold or rounds are out of range.

    Examples
    --------
    >>> SegmentOptions(cut=0.3).object_model
    'affinity'
    """

    model: str | None = None
    border: str | None = None
    affinity: GaussianAffinity | None = None
    radius: int | None = None
    side: str | None = None
    threshold: float | None = None
    cut: float | None = None
    solver: str | None = None
    corrections: int | None = None
    directions: int | None = None
    device: str = "auto"
    fill_gaps: int = 0

    def __post_init__(self) -> None:
        if self.object_model not in MODELS:
            raise InputError(f"Unknown model {self.model!r}; one of {', '.join(MODELS)}.")
        check_rounds(self.fill_gaps)
        cut = self.cut if self.object_model == "affinity" and self.cut is not None else 0.0
        check_threshold(self.threshold, cut)

    @property
    def object_model(self) -> str:
        """The model, also where none is given."""
        if self.model:
            return self.model
        own = any(getattr(self, name) is not None for name in _OF_AFFINITY)
        return "affinity" if own else "contrast"

    def given(self, *names: str) -> dict[str, Any]:
        """Those of the named options that are given, as keyword arguments."""
        options = {name: getattr(self, name) for name in names}
        return {name: value for name, value in options.items() if value is not None}
