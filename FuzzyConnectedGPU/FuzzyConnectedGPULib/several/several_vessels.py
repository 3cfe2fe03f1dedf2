"""Public entry point: several vessels in one run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceError, InputError
from FuzzyVesselCoreLib.gpu.selection import choose_device
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from ..affinity.gaussian_affinity import GaussianAffinity
from ..cached_connectedness import CachedConnectedness
from ..contrast import ContrastThreshold
from ..contrast.evidence import evidence_finder
from ..input_validation import checked_mask, checked_seeds, checked_spacing, checked_volume
from ..relative import relative_connectedness
from ..relative.groups import DISPUTED
from ..scene import FuzzyScene
from ..segment_options import SegmentOptions
from ..segmentation import Segmentation, segment
from .branches import HandOver
from .division import BACKGROUND, BACKGROUND_NAME, divide_by_contrast
from .labelling import Clicks, label_vessels

SCENE_SHARE, DIVIDED = 0.6, 0.9  # of the progress
MAX_VESSELS = 100


@dataclass(frozen=True)
class SeveralVessels:
    """Vessels that do not overlap.

    Attributes
    ----------
    names : tuple of str
        Of the vessels; that of label n is ``names[n - 1]``.
    labels : ndarray, uint8, of the volume's shape
        0 outside of all vessels, and in disputed voxels.
    disputed : ndarray of bool, same shape
        Voxels of the scene at the threshold that two vessels reach equally.
    owners : ndarray, uint8, same shape
        The division of the whole scene, whatever the threshold; 254 for background, 255 where it
        is disputed.
    scene : FuzzyScene
        Connectedness to the points of all vessels.
    threshold : float
        One for all vessels.
    affinity : GaussianAffinity or None
        None for the model "contrast".
    contrast : ContrastThreshold or None
        That model's own threshold.
    notes : tuple of str
        Messages for the user: hand-overs without effect.
    """

    names: tuple[str, ...]
    labels: np.ndarray
    disputed: np.ndarray
    owners: np.ndarray
    scene: FuzzyScene
    threshold: float
    affinity: GaussianAffinity | None = None
    contrast: ContrastThreshold | None = None
    notes: tuple[str, ...] = ()


def segment_several(
    volume: np.ndarray,
    vessels: Mapping[str, Any],
    *,
    spacing: Sequence[float] | None = None,
    background_seeds: np.ndarray | Sequence | None = None,
    hand_overs: Sequence[HandOver] = (),
    mask: np.ndarray | None = None,
    options: SegmentOptions | None = None,
    progress: Progress | ProgressCallback | None = None,
    cached: CachedConnectedness | None = None,
    **keywords: Any,
) -> SeveralVessels:
    """Segment several vessels, each from its own points, so that they do not overlap.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I) or (J, I)
    vessels : mapping of str to array_like, shape (n, 3), integers K, J, I
        Names and points, at most 100 vessels. The first point tells bright vessels from dark
        ones. A single one gives the labels of `segment`, bit for bit. A vessel without points has
        only what is handed over to it.
    spacing, background_seeds, mask, options, progress, cached, **keywords
        As of `segment`. With several vessels background is one more group, which takes what it
        reaches strongest.
    hand_overs : sequence of HandOver
        Branches that go to another vessel; see `several`.

    Returns
    -------
    SeveralVessels

    Raises
    ------
    InputError
        As of `segment`; also where two vessels have a point on the same voxel, a vessel has no
        point inside the mask, or a hand-over names no vessel.
    DeviceError, Cancelled
        As of `segment`.

    Examples
    --------
    >>> import numpy as np
    >>> from FuzzyConnectedGPULib import segment_several
    >>> volume = np.full((9, 9, 24), 90, np.int16)
    >>> volume[3:6, 3:6] = 200
    >>> volume[3:6, 3:6, 11:13] = 170
    >>> points = {"portal": [(4, 4, 2)], "hepatic": [(4, 4, 21)]}
    >>> found = segment_several(volume, points, device="cpu")
    >>> found.labels[4, 4, [2, 9, 15, 21]].tolist()
    [1, 1, 2, 2]
    """
    options = SegmentOptions(**keywords) if options is None else replace(options, **keywords)
    progress = Progress.of(progress)
    cached = cached or CachedConnectedness()
    shape, solid = np.shape(volume), (1,) * (3 - np.ndim(volume)) + np.shape(volume)
    region = checked_mask(mask, solid)
    points = checked_vessels(vessels, solid, region)
    _check_hand_overs(hand_overs, len(points), solid)
    found = segment(
        volume,
        np.concatenate(list(points.values())),
        spacing=spacing,
        background_seeds=background_seeds,
        mask=mask,
        options=options,
        progress=progress.part(0.0, SCENE_SHARE),
        cached=cached,
    )
    part = progress.part(SCENE_SHARE, DIVIDED)
    unit = checked_spacing(spacing, solid[0])
    background = background_inside(background_seeds, solid, region)
    owners = _owners(volume, found, points, background, region, unit, options, cached, part)
    clicks = Clicks(list(points.values()), background if len(background) else None, hand_overs)
    values, rounds = found.scene.values.reshape(solid), options.fill_gaps
    labels, disputed, notes = label_vessels(
        values, owners, found.threshold, clicks, unit.tolist(), rounds=rounds, mask=region
    )
    progress.advance(1.0)
    labels, disputed, owners = (each.reshape(shape) for each in (labels, disputed, owners))
    own = found.scene, found.threshold, found.affinity, found.contrast
    return SeveralVessels(tuple(points), labels, disputed, owners, *own, notes)


def checked_vessels(vessels: Mapping[str, Any], shape: Any, mask: Any) -> dict[str, np.ndarray]:
    """The points (n, 3) of each vessel inside the mask; no voxel is a point of two."""
    from ..relative.groups import checked_groups

    if not 1 <= len(vessels) <= MAX_VESSELS:
        raise InputError(f"There are {len(vessels)} vessels; give 1 to {MAX_VESSELS}.")
    found = {str(name): np.empty((0, 3), np.int64) for name in vessels}
    clicked = {str(name): points for name, points in vessels.items() if np.size(points)}
    if len(clicked) == 1:  # segment's own checks are enough
        ((name, points),) = clicked.items()
        return {**found, name: checked_seeds(points, shape)}
    groups = checked_groups(clicked, shape, mask)
    for label, name in enumerate(groups.names, 1):
        found[name] = groups.seeds[groups.owners == label]
    return found


def _check_hand_overs(hand_overs: Sequence[HandOver], count: int, shape: Any) -> None:
    for each in hand_overs:
        if not 1 <= each.label <= count:
            raise InputError(f"{each.name} names vessel {each.label}, but there are {count}.")
        checked_seeds([each.voxel], shape, each.name)


def background_inside(seeds: Any, shape: Any, mask: np.ndarray | None) -> np.ndarray:
    """The background points inside the mask."""
    if seeds is None or not np.size(seeds):
        return np.empty((0, 3), np.int64)
    voxels = np.unique(checked_seeds(seeds, shape, "background seed"), axis=0)
    return voxels if mask is None else voxels[mask[tuple(voxels.T)] > 0]


def _owners(
    volume: np.ndarray,
    found: Segmentation,
    points: Mapping[str, np.ndarray],
    background: np.ndarray,
    mask: np.ndarray | None,
    spacing: np.ndarray,
    options: SegmentOptions,
    cached: CachedConnectedness,
    progress: Progress,
) -> np.ndarray:
    """The division of the scene, in the numbers of all vessels."""
    scene = found.scene.values.reshape((1,) * (3 - np.ndim(volume)) + np.shape(volume))
    clicked = {name: each for name, each in points.items() if len(each)}
    numbers = np.arange(DISPUTED + 1, dtype=np.uint8)
    numbers[1 : len(clicked) + 1] = [n for n, each in enumerate(points.values(), 1) if len(each)]
    if len(clicked) == 1:
        return numbers[(scene > 0).astype(np.uint8)]
    if len(background):
        numbers[len(clicked) + 1] = BACKGROUND
    if found.contrast is not None:
        groups = scene, clicked, progress, background
        return numbers[_divided(groups, volume, mask, spacing, options, cached)]
    if len(background):
        clicked[BACKGROUND_NAME] = background
    relative = relative_connectedness(
        volume,
        clicked,
        found.affinity,
        mask=mask,
        device=options.device,
        iterative=True,
        cut=options.cut,
        progress=progress,
    )
    from .unowned import share_unowned  # numba

    owners = np.where(relative.disputed, DISPUTED, relative.labels).astype(np.uint8)
    return numbers[share_unowned(owners.reshape(scene.shape), scene > 0, progress)]


def _divided(
    groups: tuple[np.ndarray, Mapping[str, Any], Progress, np.ndarray],
    volume: np.ndarray,
    mask: np.ndarray | None,
    spacing: np.ndarray,
    options: SegmentOptions,
    cached: CachedConnectedness,
) -> np.ndarray:
    """The division by contrast, on the device where the evidence is; see `divide_by_contrast`."""
    _, clicked, progress, _ = groups
    if cached.on_device:
        chosen = choose_device(options.device)
        try:
            if chosen != "cpu":
                with chosen as gpu:
                    evidence = cached.evidence_for(gpu)
                    if evidence is not None:
                        return divide_by_contrast(evidence, *groups, gpu)
        except DeviceError:
            if options.device != "auto":
                raise
            cached.forget()  # a device that failed may have lost it
    evidence = cached.evidence
    if evidence is None:  # the device's memory was needed for something else
        find, solid = evidence_finder(), checked_volume(volume)
        first = next(iter(clicked.values()))[0]
        evidence = find(solid, spacing, first, mask, progress, None)
    return divide_by_contrast(evidence, *groups)
