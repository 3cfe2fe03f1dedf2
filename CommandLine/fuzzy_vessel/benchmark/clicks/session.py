"""What a simulated person did: the clicks and how good the result was after each."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Click:
    """One click, and how good the method's result is after it.

    Attributes
    ----------
    voxel : tuple of 3 int
    is_vessel : bool
        Whether it marks a vessel; else background.
    seconds : float
        The method's time.
    change : float
        Of Dice, by this click.
    disobeyed : int
        Clicks so far that the result contradicts: vessel clicks outside of it, background clicks
        inside.
    scores : dict of str to float or None
        Dice; after the last click all of `Measures`.
    failure : str
        What the method raised; its earlier result counts then. Empty if it ran.
    """

    voxel: tuple
    is_vessel: bool
    seconds: float
    change: float
    disobeyed: int
    scores: dict
    failure: str = ""

    @property
    def dice(self) -> float:
        """Dice after this click."""
        return self.scores["dice"]


@dataclass
class Session:
    """The clicks of one person with one method, and the last result."""

    clicks: list = field(default_factory=list)
    result: np.ndarray | None = None

    def dice_after(self, count: int) -> float:
        """Dice after so many clicks, or after the last one if fewer were needed."""
        return self.clicks[min(count, len(self.clicks)) - 1].dice

    @property
    def disobeyed(self) -> int:
        """Contradicted clicks, counted anew after each click."""
        return sum(click.disobeyed for click in self.clicks)

    @property
    def worst_change(self) -> float:
        """The largest fall of Dice by one click, as a negative number; 0 if it never fell."""
        return min([0.0, *(click.change for click in self.clicks)])

    @property
    def seconds(self) -> float:
        """The method's time for all clicks."""
        return sum(click.seconds for click in self.clicks)
