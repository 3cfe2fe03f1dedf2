"""The object of a labelmap: checked, cleaned and split into components."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from scipy import ndimage

from FuzzyVesselCoreLib.errors import DeviceError, InputError
from FuzzyVesselCoreLib.gpu.device import choose_device
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.translation import tr as _
from FuzzyVesselCoreLib.voxels.distances import LARGE, distance_to_outside
from FuzzyVesselCoreLib.voxels.masks import (
    CUBE,
    bounding_box,
    boxes_of,
    fill_cavities,
    label_components,
)
from FuzzyVesselCoreLib.voxels.topology import cycle_count, euler_characteristic

from .options import (
    EMPTY,
    MIN_STRENGTH,
    NO_ATTRACTORS,
    SkeletonOptions,
    checked_device,
    checked_labelmap,
)
from .report import NO_CHANGES, sentences_on
from .thinning import thin


@dataclass
class Components:
    """The components of an object, and what was changed before it was split into them.

    `sizes` are the voxels of each component, `changes` the report's counts of what was filled,
    dropped and closed; `masks` gives for each where its mask begins in the volume, and the mask
    (bool): the component in its box with a margin of one empty voxel. `seconds` is how long it took
    to find them.
    """

    sizes: np.ndarray
    changes: dict[str, int]
    warnings: list[str]
    masks: Iterable[tuple[np.ndarray, np.ndarray]]
    seconds: float

    @property
    def sentences(self) -> list[str]:
        """What was changed, in words, and the warnings."""
        return [*sentences_on(self.changes), *self.warnings]


def prepare(
    mask: np.ndarray,
    spacing: Sequence[float],
    options: SkeletonOptions,
    progress: Progress,
) -> Components:
    """The object of a labelmap, cleaned; `InputError` if it cannot be used or is empty."""
    began = perf_counter()
    values = checked_labelmap(mask)
    given = np.ascontiguousarray(values, bool)
    box = bounding_box(given)
    if box is None:
        raise InputError(EMPTY)
    warnings = input_warnings(values, bool(given.all()), options.strength)
    solid = given[box]
    origin = np.array([side.start - 1 for side in box])
    changes = dict(NO_CHANGES)
    device = checked_device(options.method, options.device)
    is_one = is_one_solid_on(device, solid)
    if not is_one:
        solid, cavities, cavity_voxels = fill_cavities(solid)
        changes |= dict(cavities_filled=cavities, cavity_voxels=cavity_voxels)
        if options.drop_islands > 1:
            labels, count = label_components(solid)
            sizes = np.bincount(labels.ravel(), minlength=count + 1)
            small = small_components(sizes, options.drop_islands)
            solid = solid & ~small[labels]
            changes |= dict(islands_dropped=int(small.sum()), island_voxels=int(sizes[small].sum()))
    if options.close_tunnels > 0:
        solid, tunnels, tunnel_voxels = close_tunnels(
            solid, options.close_tunnels, spacing, progress
        )
        changes |= dict(tunnels_closed=tunnels, tunnel_voxels=tunnel_voxels)
    progress.check()
    sizes = np.array([np.count_nonzero(solid)])
    if is_one:
        masks = [(origin, np.pad(solid, 1))]
        return Components(sizes, changes, warnings, masks, perf_counter() - began)
    labels, count = label_components(solid)
    if count > 1:
        sizes = np.bincount(labels.ravel(), minlength=count + 1)[1:]
    all_masks = (
        (origin + [side.start for side in own], np.pad(labels[own] == number, 1))
        for number, own in enumerate(boxes_of(labels), 1)
    )
    return Components(sizes, changes, warnings, all_masks, perf_counter() - began)


def is_one_solid_on(device: str, mask: np.ndarray) -> bool:
    """Whether a CUDA device finds one component and no cavity in a mask (bool; K, J, I).

    Most objects are such, and their voxels then need no labels on the CPU. False also where the
    object is small, there is no device, or its memory does not suffice.
    """
    gpu = choose_device(device)
    if gpu == "cpu" or not LARGE <= mask.size < 1 << 31:  # labels are int32
        return False
    with suppress(DeviceError), gpu:
        label, solid = gpu.ndimage.label, gpu.put(mask)
        outside = gpu.xp.pad(~solid, 1, constant_values=True)
        components, cavities = label(solid, gpu.xp.ones((3, 3, 3)))[1], label(outside)[1] - 1
        return bool(components == 1 and cavities == 0)
    return False


def input_warnings(values: np.ndarray, is_full: bool, strength: int) -> list[str]:
    """Warnings about a labelmap (full: no voxel is 0), and about the strength of the force."""
    warnings = [NO_ATTRACTORS] if strength == MIN_STRENGTH else []
    if is_full:
        warnings.append(_("The object fills the volume: its border is taken to be the volume's."))
    if values.dtype.kind == "f" and (values != np.rint(values)).any():
        warnings.append(
            _("The labelmap has values that are no whole numbers; all but 0 are the object.")
        )
    return warnings


def small_components(sizes: np.ndarray, smallest: int) -> np.ndarray:
    """Which labels (bool) have fewer voxels; not label 0 nor the largest component."""
    small = sizes < smallest
    small[0] = False
    small[1 + np.argmax(sizes[1:])] = False
    return small


# ---- Tunnels of an object that are closed before its skeleton is taken

VOXELS_AT_ONCE = 1 << 22  # whose distances are computed at once, on a grid of half voxels
ROUNDING = 1e-5  # share of the distance


def close_tunnels(
    mask: np.ndarray, width: float, spacing: Sequence[float], progress: Progress | None = None
) -> tuple[np.ndarray, int, int]:
    """Close tunnels up to `width` mm wide by patches, one voxel thick, across them.

    The object (bool, without cavities), dilated by half the width, is thinned back onto it, the
    voxels furthest from it first: what remains besides it are patches across the tunnels that the
    dilation had closed (after Aktouf, Bertrand and Perroton 2002, who begin with a box), and
    strands across gaps, which are dropped. A tunnel is as wide as the largest ball that can be
    pushed through it, between the faces of the object's voxels; none that is wider is closed.
    Returned are the closed object, and how many tunnels were closed and voxels added.
    """
    progress = Progress.of(progress)
    tunnels = cycle_count(mask)
    if tunnels == 0:
        return mask, 0, 0
    # No tunnel is wider than the object.
    width = min(width, float(np.linalg.norm(np.array(mask.shape) * spacing)))
    margin = [2 + int(width / 2 / step) for step in spacing]
    inner = tuple(slice(n, -n) for n in margin)
    object_ = np.pad(np.ascontiguousarray(mask), [(n, n) for n in margin])
    dilated, _, _ = fill_cavities(covered(object_, width / 2, spacing, progress))
    distance = distance_to_outside((~object_).view(np.uint8), spacing, progress)
    voxels = np.flatnonzero(dilated)
    order = (distance.max() - distance).reshape(-1)[voxels]
    stays, never = object_.reshape(-1)[voxels], np.zeros(len(voxels), bool)
    solid = np.zeros_like(object_)
    solid.reshape(-1)[thin(voxels, order, stays, never, solid.view(np.uint8))] = True
    progress.check()
    closed = (object_ | _patches(solid, object_, progress))[inner]
    left = cycle_count(closed)
    return closed, tunnels - left, int(np.count_nonzero(closed & ~mask))


def covered(
    mask: np.ndarray, distance: float, spacing: Sequence[float], progress: Progress
) -> np.ndarray:
    """The voxels no point of which is further than `distance` (mm) from the object, and the object.

    The object is the union of its voxels' closed boxes. So a slit, or a straight tunnel along the
    grid, of n voxels is full from a distance of n / 2 voxels on, whether n is even or odd. The
    distance is largest at the centre of a voxel and of its faces and edges, or at its corners: on a
    grid of half voxels, on which the nearest point of a box lies, too.
    """
    found, limit = mask.copy(), distance * (1 + ROUNDING)
    reach = int(limit / spacing[0]) + 2
    planes = max(VOXELS_AT_ONCE // (mask.shape[1] * mask.shape[2]), 1)
    for first in range(0, len(mask), planes):
        low, last = max(first - reach, 0), min(first + planes, len(mask))
        part = mask[low : last + reach]
        if part.any():
            fine = np.ones([2 * n + 1 for n in part.shape], np.uint8)
            for corner in np.ndindex(3, 3, 3):
                place = tuple(slice(at, at + 2 * n - 1, 2) for at, n in zip(corner, part.shape))
                fine[place] &= ~part
            half = [step / 2 for step in spacing]
            near = distance_to_outside(fine, half, progress) <= limit
            for axis in range(3):
                near = np.moveaxis(near, axis, 0)
                near = np.moveaxis(near[:-2:2] & near[1:-1:2] & near[2::2], 0, axis)
            found[first:last] |= near[first - low : last - low]
    return found


def _patches(solid: np.ndarray, mask: np.ndarray, progress: Progress) -> np.ndarray:
    """The components of a solid beside the object that close more tunnels than they make.

    Those that touch two components of the object are left out, too.
    """
    added, _ = label_components(solid & ~mask)
    components, _ = label_components(mask)
    patches = np.zeros_like(mask)
    for label, box in enumerate(boxes_of(added), start=1):
        progress.check()
        around = tuple(slice(side.start - 1, side.stop + 1) for side in box)
        patch = added[around] == label
        touched = np.unique(components[around][ndimage.binary_dilation(patch, CUBE)])
        with_patch = euler_characteristic(mask[around] | patch)
        if np.count_nonzero(touched) == 1 and with_patch > euler_characteristic(mask[around]):
            patches[around] |= patch
    return patches
