"""The evidence of one case, kept from click to click."""

from collections.abc import Callable
from typing import Any

from FuzzyConnectedGPULib.contrast.evidence import evidence_finder


class KeptEvidence:
    """Finds evidence once for a case, for `contrast_connectedness`.

    Volume, mask and spacing of a case stay the same: only another first seed may ask for other
    evidence.

    Parameters
    ----------
    find : callable, optional
        By default `vessel_evidence`.

    Attributes
    ----------
    last : Evidence or None
    """

    def __init__(self, find: Callable[..., Any] | None = None) -> None:
        self._find = evidence_finder(find)
        self.last: Any = None

    def __call__(self, volume: Any, spacing: Any, first_seed: Any, *others: Any) -> Any:
        """The kept evidence, or new one."""
        if self.last is None or not self.last.holds_for(first_seed):
            self.last = self._find(volume, spacing, first_seed, *others)
        return self.last
