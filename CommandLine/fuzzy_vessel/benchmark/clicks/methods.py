"""The methods of the click tables by name: ours, the papers' affinity, and other programs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Protocol

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from . import ours
from .peers import grow_cut, random_walker, thresholds

Voxels = list[tuple[int, int, int]]


class ClickMethod(Protocol):
    """Segments vessels from clicks."""

    def __call__(
        self,
        volume: np.ndarray,
        vessel: Voxels,
        background: Voxels,
        mask: np.ndarray | None,
        spacing: tuple[float, float, float],
    ) -> np.ndarray:
        """Segment.

        Parameters
        ----------
        volume : ndarray, shape (K, J, I)
        vessel : list of (k, j, i)
            Distinct clicks on vessels, at least one.
        background : list of (k, j, i)
            Distinct clicks on voxels that are no vessel; may be empty.
        mask : ndarray of bool or None
            Where vessels may be.
        spacing : tuple of 3 float
            K, J, I in mm.

        Returns
        -------
        ndarray of bool
        """


@dataclass(frozen=True)
class Method:
    """A method as the tables know it.

    Attributes
    ----------
    make : callable
        ``make(device)`` returns a `ClickMethod` for one case: what it keeps of the image lives as
        long as the case.
    package : str
        What has to be installed, as pip names it; empty: nothing.
    module : str
        The module that this package has.
    """

    make: Callable[[str], ClickMethod]
    package: str = ""
    module: str = ""

    @property
    def is_installed(self) -> bool:
        """Whether it can be run here."""
        return not self.module or find_spec(self.module) is not None


METHODS = {
    "ours": Method(ours.Ours),
    "ours-pair-mean": Method(lambda device: ours.PathVariant(pair_mean=True)),
    "ours-6-neighbours": Method(lambda device: ours.PathVariant(neighbours=6)),
    "papers-affinity": Method(ours.PapersAffinity),
    "bright-affinity": Method(lambda device: ours.Ours(device, side="bright")),
    "itk-affinity": Method(ours.WeightedAffinity),
    "halfway": Method(lambda device: thresholds.halfway),
    "otsu": Method(lambda device: thresholds.otsu, "scikit-image", "skimage"),
    "random-walker": Method(lambda device: random_walker.segment, "scikit-image", "skimage"),
    "growcut": Method(lambda device: grow_cut.segment, "itk-growcut", "itk"),
}


def chosen_methods(names: Sequence[str] = ()) -> dict[str, Method]:
    """Methods by name; all without names.

    Raises
    ------
    InputError
        A name is unknown.
    """
    for name in names:
        if name not in METHODS:
            raise InputError(f"Unknown method {name!r}; one of {', '.join(METHODS)}.")
    return {name: METHODS[name] for name in names or METHODS}
