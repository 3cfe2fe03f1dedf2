"""Names that moved to `segmentation.relabel`, until their callers have moved, too."""

from dataclasses import dataclass
from typing import Any

from ..segmentation import relabel


@dataclass(frozen=True)
class Clicks:
    """Points of each vessel, background points and hand-overs."""

    points: Any
    background: Any = None
    hand_overs: Any = ()


def label_vessels(
    scene: Any, owners: Any, threshold: float, clicks: Clicks, spacing: Any, *, rounds: int = 0,
    mask: Any = None,
) -> Any:  # fmt: skip
    """`relabel` of several vessels."""
    return relabel(
        scene, threshold, owners=owners, vessels=clicks.points, spacing=spacing, mask=mask,
        background_seeds=clicks.background, hand_overs=clicks.hand_overs, fill_gaps=rounds,
    )  # fmt: skip
