"""Segmentation of one vessel or several in one call, and its labels at another threshold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from .affinity import GaussianAffinity, estimate_affinity
from .contrast.contrast_map import ContrastMap, ContrastMapCache
from .contrast.contrast_model import contrast_connectedness
from .fuzzy_connectedness import connectedness
from .input_validation import checked_mask, checked_seeds, checked_spacing, place_of, volume_shape
from .relative.vessels import HandOver, apply_hand_overs, checked_vessels, labels_of_owners
from .scene import CONTRAST_THRESHOLD, FuzzyScene, binarize, check_rounds, check_threshold
from .scene import fill_gaps as filled
from .thresholds import choose_threshold

MODELS = ("contrast", "affinity")
# Fields of `SegmentOptions` that belong to the model "affinity"; those of its scene last.
ESTIMATED, OF_SCENE = ("radius", "side"), ("solver", "cut", "corrections", "directions")
SCENE_SHARE, DIVIDED = 0.6, 0.9  # of the progress, where several vessels are segmented
VESSEL = "vessel"  # the name of a single one


@dataclass(frozen=True)
class SegmentOptions:
    """How to segment: what does not depend on the volume's grid.

    Attributes
    ----------
    model : {"contrast", "affinity"}, optional
        "contrast", the default: contrast to the local background, connected from the clicks (see
        `contrast`). "affinity": the papers' affinity with one threshold for the whole scene; the
        default where one of its own parameters (`affinity`, `radius`, `side`, `cut`, `solver`,
        `corrections`, `directions`) is given.
    border : {"drawn", "half"}, optional
        For the model "contrast": where experts draw it (the default; 20 to 30 % of the contrast in
        liver vessels), or where the contrast has fallen to a half, for vessels from about five
        voxels on.
    affinity : GaussianAffinity, optional
        By default `estimate_affinity` with `radius` (2) and `side` ("both").
    cut, solver, corrections, directions
        For the model "affinity"; as in `connectedness`.
    threshold : float, optional
        Above 0, up to 1. By default 0.5 in the model "contrast" (lower: more, higher: less), and
        the result of `choose_threshold` in the model "affinity".
    device : str
        As in `connectedness`.
    fill_gaps : int
        Rounds of `scene.fill_gaps`, which adds voxels that noise left out of a wide
        vessel.

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
        own = self.affinity is not None or self.given(ESTIMATED + OF_SCENE)
        return self.model or ("affinity" if own else "contrast")

    def given(self, names: Sequence[str]) -> dict[str, Any]:
        """Those of the named options that are given, as keyword arguments."""
        options = {name: getattr(self, name) for name in names}
        return {name: value for name, value in options.items() if value is not None}


@dataclass(frozen=True)
class Segmentation:
    """Vessels that do not overlap, and the fuzzy scene that they come from.

    Attributes
    ----------
    labels : ndarray, uint8, of the volume's shape (K, J, I)
        The number of the vessel, from 1 on; 0 outside of all, and in disputed voxels.
    names : tuple of str
        Of the vessels; that of label n is ``names[n - 1]``.
    scene : FuzzyScene
        Connectedness to the points of all vessels.
    threshold : float
        One for all vessels.
    affinity : GaussianAffinity or None
        None for the model "contrast".
    owners : ndarray, uint8, of the volume's shape, or None
        The division of the whole scene among several vessels, whatever the threshold; 254 for
        background, 255 where it is disputed. None for one vessel.
    disputed : ndarray of bool, of the volume's shape, or None
        Voxels of the scene at the threshold that two vessels reach equally. None for one vessel.
    notes : tuple of str
        Messages for the user: seeds outside the mask, hand-overs without effect.
    """

    labels: np.ndarray
    names: tuple[str, ...]
    scene: FuzzyScene
    threshold: float
    affinity: GaussianAffinity | None = None
    owners: np.ndarray | None = None
    disputed: np.ndarray | None = None
    notes: tuple[str, ...] = ()


def segment(
    volume: np.ndarray,
    seeds: Any,
    *,
    spacing: Sequence[float] | None = None,
    background_seeds: np.ndarray | Sequence | None = None,
    hand_overs: Sequence[HandOver] = (),
    mask: np.ndarray | None = None,
    options: SegmentOptions | None = None,
    progress: Progress | ProgressCallback | None = None,
    cached: ContrastMapCache | None = None,
    **keywords: Any,
) -> Segmentation:
    """Segment the vessel, or several vessels, that contain the seeds.

    Several vessels share one fuzzy scene, which is divided among them: see `relative`.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I) or (J, I)
        Of the types that `connectedness` takes.
    seeds : array_like, shape (n, 3), integers K, J, I; or mapping of str to such
        Voxels of the vessel; or the names and voxels of at most 100 vessels. Each voxel is in the
        result, unless it lies outside the mask, which a note says. Of several vessels, one without
        points has only what is handed over to it. The first point tells bright vessels from dark
        ones.
    spacing : sequence of 3 float, optional
        Distance of voxels along K, J, I; by default 1, 1, 1.
    background_seeds : array_like, shape (n, 3), integers K, J, I, optional
        Voxels that do not belong to the vessels; they are not in the result. In the model
        "affinity" with a given `threshold` they change nothing for one vessel. With several
        vessels background is one more group, which takes what it reaches strongest.
    hand_overs : sequence of HandOver
        Branches that go to another vessel.
    mask : ndarray, optional
        Vessels and paths stay where it is not 0.
    options : SegmentOptions, optional
        Model, border, threshold, device and so on.
    progress : callable, optional
        ``progress(share) -> bool``; returns False to cancel.
    cached : ContrastMapCache, optional
        Results of earlier runs: only what has changed since is computed.
    **keywords
        Fields of `SegmentOptions`, instead of `options` or to replace some of its fields; for
        example ``device="cpu", threshold=0.4``.

    Returns
    -------
    Segmentation

    Raises
    ------
    InputError
        As `SegmentOptions`, `connectedness` and `background_threshold` do; also where a seed and a
        background seed, or points of two vessels, are the same voxel, where a vessel has no point
        inside the mask, and where a hand-over names no vessel.
    DeviceError, Cancelled
        As `connectedness` does.

    Examples
    --------
    >>> volume = np.full((9, 9, 24), 90, np.int16)
    >>> volume[3:6, 3:6] = 200
    >>> volume[3:6, 3:6, 11:13] = 170
    >>> points = {"portal": [(4, 4, 2)], "hepatic": [(4, 4, 21)]}
    >>> segment(volume, points, device="cpu").labels[4, 4, [2, 9, 15, 21]].tolist()
    [1, 1, 2, 2]
    """
    options = SegmentOptions(**keywords) if options is None else replace(options, **keywords)
    progress = Progress.of(progress)
    cached = cached or ContrastMapCache()
    shape = volume_shape(np.shape(volume))
    checked_spacing(spacing, shape[0])
    inputs: Any = dict(spacing=spacing, mask=mask, background_seeds=background_seeds)
    vessels = seeds if isinstance(seeds, Mapping) else {VESSEL: seeds}
    divided, part = len(vessels) != 1 or bool(hand_overs), progress
    if divided:
        part = progress.part(0.0, SCENE_SHARE)
        vessels = checked_vessels(vessels, shape, checked_mask(mask, shape), hand_overs)
        points: Any = np.concatenate(list(vessels.values()))
    else:
        ((name, points),) = vessels.items()
        vessels = {str(name): points}
    found = _fuzzy_scene(volume, points, options, cached, part, inputs)
    scene, threshold, mapped, affinity = found
    owners = None
    if divided:
        from .relative.division import owners_of_scene  # numba

        part = progress.part(SCENE_SHARE, DIVIDED)
        owners = owners_of_scene(
            volume, scene, mapped, affinity, vessels, options,
            mask=mask, background_seeds=background_seeds, progress=part,
        )  # fmt: skip
    labels, disputed, notes = relabel(
        scene, threshold, owners=owners, vessels=vessels, hand_overs=hand_overs,
        fill_gaps=options.fill_gaps, **inputs,
    )  # fmt: skip
    progress.advance(1.0)
    notes = (*_left_out(seeds, mask, shape), *notes)
    names = tuple(vessels)
    return Segmentation(labels, names, scene, threshold, affinity, owners, disputed, notes)


def _left_out(seeds: Any, mask: Any, shape: tuple[int, ...]) -> tuple[str, ...]:
    """A note on the seeds that lie outside the mask, if there are any."""
    if mask is None:
        return ()
    lists = seeds.values() if isinstance(seeds, Mapping) else [seeds]
    points = np.concatenate([checked_seeds(each, shape) for each in lists if np.size(each)])
    outside = np.unique(points[np.reshape(mask, shape)[tuple(points.T)] == 0], axis=0).tolist()
    places = "; ".join(map(place_of, outside))
    return (f"Left out, because outside the mask: {places}.",) if outside else ()


def _fuzzy_scene(
    volume: Any, points: Any, options: SegmentOptions, cached: ContrastMapCache,
    progress: Progress, inputs: dict[str, Any],
) -> tuple[FuzzyScene, float, ContrastMap | None, GaussianAffinity | None]:  # fmt: skip
    """The scene of one vessel or several, its threshold, and the map or affinity of its model."""
    device, threshold = options.device, options.threshold
    if options.object_model == "contrast":
        border = options.border or "drawn"
        scene, mapped = contrast_connectedness(
            volume, points, cached, border=border, device=device, progress=progress, **inputs
        )
        return scene, CONTRAST_THRESHOLD if threshold is None else threshold, mapped, None
    progress.advance(0.0)
    affinity = options.affinity
    if affinity is None:
        affinity = estimate_affinity(volume, points, **options.given(ESTIMATED))
    more = dict(device=device, mask=inputs["mask"], **options.given(OF_SCENE))
    scene = connectedness(volume, points, affinity, progress=progress, **more)
    if threshold is None:
        threshold = choose_threshold(scene, inputs["background_seeds"], options.cut or 0.0)
        progress.advance(1.0)
    return scene, threshold, None, affinity


def segment_several(volume: np.ndarray, vessels: Mapping[str, Any], **options: Any) -> Segmentation:
    """`segment` for a mapping of names to points, always with `owners` and `disputed`."""
    result = segment(volume, vessels, **options)
    if result.owners is not None:
        return result
    reached = result.scene.values > 0
    disputed = np.zeros(reached.shape, bool)
    return replace(result, owners=reached.astype(np.uint8), disputed=disputed)


class Labelled(NamedTuple):
    """Labels, disputed voxels (None for one vessel) and notes; as of `Segmentation`."""

    labels: np.ndarray
    disputed: np.ndarray | None
    notes: tuple[str, ...]


def relabel(
    scene: FuzzyScene | np.ndarray,
    threshold: float,
    *,
    owners: np.ndarray | None = None,
    vessels: Mapping[str, Any] | Sequence[Any] = (),
    background_seeds: Any = None,
    hand_overs: Sequence[HandOver] = (),
    spacing: Sequence[float] | None = None,
    fill_gaps: int = 0,
    mask: np.ndarray | None = None,
) -> Labelled:
    """Labels of a scene at a threshold, for one vessel or several.

    Parameters
    ----------
    scene : FuzzyScene or ndarray, float32, shape (K, J, I) or (J, I)
    threshold : float
    owners : ndarray, uint8, same shape, optional
        Of a `Segmentation` of several vessels.
    vessels : mapping, or sequence, of array_like, shape (n, 3), integers K, J, I
        The points of each vessel; only hand-overs need them.
    background_seeds, hand_overs, spacing, mask
        As of `segment`; background seeds and mask limit the filling of gaps.
    fill_gaps : int
        As of `SegmentOptions`.

    Returns
    -------
    Labelled

    Examples
    --------
    >>> scene = np.array([[[1, 0.8, 0.3, 0.9]]], np.float32)
    >>> relabel(scene, 0.5, owners=np.array([[[1, 1, 255, 2]]], np.uint8)).labels.tolist()
    [[[1, 1, 0, 2]]]
    """
    labels = binarize(scene, threshold)
    given_shape, shape = labels.shape, volume_shape(labels.shape)
    labels = labels.reshape(shape)
    if fill_gaps:
        labels = filled(labels, fill_gaps, checked_mask(mask, shape), background_seeds)
    if owners is None:
        return Labelled(labels.reshape(given_shape), None, ())
    own, disputed = labels_of_owners(labels, owners.reshape(shape), bool(fill_gaps))
    notes: tuple[str, ...] = ()
    if hand_overs:
        points = list(vessels.values() if isinstance(vessels, Mapping) else vessels)
        spacing = checked_spacing(spacing, shape[0]).tolist()
        notes = apply_hand_overs(own, points, hand_overs, spacing)
    return Labelled(own.reshape(given_shape), disputed.reshape(given_shape), notes)
