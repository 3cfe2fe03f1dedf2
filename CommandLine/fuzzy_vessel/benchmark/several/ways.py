"""Ways to give each voxel to one of several vessels."""

from collections.abc import Callable

import numpy as np

from FuzzyConnectedGPULib import estimate_affinity, relative_connectedness, segment, segment_several
from FuzzyConnectedGPULib.cached_connectedness import CachedConnectedness

from .known_vessels import KnownVessels

Points = dict[str, list]


class Way:
    """A way to divide one volume; it keeps what it can from click to click.

    Parameters
    ----------
    known : KnownVessels
    device : str
    """

    def __init__(self, known: KnownVessels, device: str) -> None:
        self.known, self.device = known, device
        self.kept = CachedConnectedness()

    def __call__(self, points: Points, background: list) -> np.ndarray:
        """Labels (uint8, K, J, I) of the vessels in their order; 0: none, or disputed."""
        raise NotImplementedError

    def _segment(self, points: list, background: list, mask: np.ndarray) -> np.ndarray:
        found = segment(
            self.known.volume,
            points,
            spacing=self.known.spacing,
            background_seeds=background or None,
            mask=mask,
            device=self.device,
            cached=self.kept,
        )
        return found.labels > 0


class Several(Way):
    """This project's: one scene, divided by iterative relative connectedness of the contrast."""

    def __call__(self, points: Points, background: list) -> np.ndarray:
        """See `Way`."""
        return segment_several(
            self.known.volume,
            points,
            spacing=self.known.spacing,
            background_seeds=background or None,
            mask=self.known.mask,
            device=self.device,
            cached=self.kept,
        ).labels


class ByAffinity(Way):
    """The same scene, divided by iterative relative connectedness of the papers' affinity."""

    def __call__(self, points: Points, background: list) -> np.ndarray:
        """See `Way`."""
        every = [voxel for each in points.values() for voxel in each]
        inside = self._segment(every, background, self.known.mask)
        divided = relative_connectedness(
            self.known.volume,
            points,
            estimate_affinity(self.known.volume, np.array(every)),
            mask=self.known.mask,
            device=self.device,
            iterative=True,
        )
        return divided.labels * inside


class InTurn(Way):
    """One vessel after the other, the others' points as background; who comes first keeps it."""

    def __call__(self, points: Points, background: list) -> np.ndarray:
        """See `Way`."""
        labels = np.zeros(self.known.volume.shape, np.uint8)
        for label, (name, each) in enumerate(points.items(), 1):
            others = [v for other, its in points.items() if other != name for v in its]
            found = self._segment(each, [*background, *others], self.known.mask)
            labels[found & (labels == 0)] = label
        return labels


class Alone(Way):
    """Each vessel alone; what two have is in none."""

    def __call__(self, points: Points, background: list) -> np.ndarray:
        """See `Way`."""
        found = [self._segment(each, background, self.known.mask) for each in points.values()]
        labels = sum(label * each.astype(np.uint8) for label, each in enumerate(found, 1))
        return np.where(np.sum(found, axis=0) > 1, 0, labels).astype(np.uint8)


WAYS: dict[str, Callable[[KnownVessels, str], Way]] = {
    "several": Several,
    "by affinity": ByAffinity,
    "one after the other": InTurn,
    "each alone": Alone,
}
