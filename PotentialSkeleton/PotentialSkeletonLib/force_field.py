"""The force field of an object: the public function, and the field of each component."""

import warnings
from dataclasses import dataclass, replace
from math import prod
from time import perf_counter
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.errors import DeviceError, InputError
from FuzzyVesselCoreLib.gpu.device import choose_device, on_device_or_cpu
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback
from FuzzyVesselCoreLib.voxels.masks import (
    boxes_of,
    count_voxels,
    dilate,
    erode,
    fill_cavities,
    label_components,
)

from .options import (
    EMPTY,
    MIN_STRENGTH,
    NO_ATTRACTORS,
    check_options,
    checked_device,
    checked_object,
)
from .summation import Summation

OUTSIDE, SURFACE, BOUNDARY, INNER = 0, 1, 2, 3  # classes of voxels


@dataclass(frozen=True)
class ForceField:
    """Force on each voxel of an object from the charges on its surface.

    Attributes
    ----------
    vectors : ndarray, float32, shape (K, J, I, 3)
        Components K, J, I; 0 at surface and outside voxels.
    classes : ndarray, uint8, shape (K, J, I)
        Outside 0, surface 1, boundary 2, inner 3, of the solids that carry the charges: the object
        with its cavities filled, each component dilated by `charge_distance` layers.
    object : ndarray, bool, shape (K, J, I)
        The object itself with its cavities filled.
    labels : ndarray, int32, shape (K, J, I)
        The number, from 1, of the 26-connected component of `object`; 0 outside of it. Of one
        component it may be `object` itself.
    strength, charge_distance : int
    method : str
        The method that was used; never "auto".
    device : str
        "cpu", or the ordinal and name of the CUDA device.
    threads_per_block : int or None
        Of the direct CUDA methods.
    occupancy : float or None
        Active warps of a multiprocessor, as a share of its maximum (paper, eq. 2).
    seconds : dict of str to float
        Time of each stage: prepare, classify, sum, boundary, place.
    peak_bytes : int
        Most memory that the summation held: on the device for CUDA, else about that of the host.
    notes : tuple of str
        What the user should know, for example that cavities were filled.
    """

    vectors: np.ndarray
    classes: np.ndarray
    object: np.ndarray
    labels: np.ndarray
    strength: int
    charge_distance: int
    method: str
    device: str
    threads_per_block: int | None
    occupancy: float | None
    seconds: dict[str, float]
    peak_bytes: int
    notes: tuple[str, ...] = ()


def force_field(
    mask: np.ndarray,
    strength: int = 6,
    *,
    method: str = "auto",
    charge_distance: int = 0,
    device: str = "auto",
    threads: int | None = None,
    progress: Progress | ProgressCallback | None = None,
) -> ForceField:
    """The repulsive force of the surface on the inner voxels of an object.

    ``F(P) = sum over charges C of unit(P - C) / |P - C|^strength`` in units of voxels (Zhao et al.
    2016, section 1; Cornea et al. 2005); the charges are the surface voxels. Boundary voxels get
    the mean force of the inner voxels among their 26 neighbours; where there is none, in corners
    and where the object is thinner than 5 voxels, the sum itself. Each 26-connected component is a
    solid of its own: the charges of other components do not act on it.

    Parameters
    ----------
    mask : ndarray, shape (K, J, I) or (J, I)
        The object is where it is not 0; beyond the volume everything is outside.
    strength : int
        3 to 9; the greater, the less far charges act. At 2 the field is free of divergence and
        has no attractors: a warning is given.
    method : str
        One of `FORCE_METHODS`.
    charge_distance : int
        Each component is dilated by so many layers of 26 neighbours, 0 to 100, before its surface
        is charged. Where dilated components overlap, outside of both, the one with the lower
        label has the voxel.
    device : str
        "auto" (CUDA if it is usable and its memory suffices, else the CPU, with a note), "cpu",
        "cuda", "cuda:1".
    threads : int, optional
        Threads per block of the direct CUDA methods; by default those of the highest occupancy.
    progress : callable, optional
        ``progress(fraction) -> bool``; the run is cancelled when it returns False.

    Returns
    -------
    ForceField

    Raises
    ------
    InputError
        If mask, strength, method, charge_distance or device cannot be used.
    DeviceError
        If the device that was asked for is not usable or has too little memory.
    Cancelled
        If `progress` returned False.

    Examples
    --------
    >>> field = force_field(np.ones((9, 9, 9), bool), device="cpu")
    >>> field.classes[4, 4]
    array([1, 2, 3, 3, 3, 3, 3, 2, 1], dtype=uint8)
    >>> bool(field.vectors[4, 4, 2, 2] > 0)  # away from the nearest face
    True
    """
    strength, charge_distance = check_options(strength, method, charge_distance)
    choose_device(checked_device(method, device))  # a wrong name is an error before the work begins
    progress = Progress.of(progress)
    progress.advance(0.0)
    start = perf_counter()
    given = checked_object(mask)
    if not given.any():
        raise InputError(EMPTY)
    notes = [NO_ATTRACTORS] if strength == MIN_STRENGTH else []
    for note in notes:
        warnings.warn(note, stacklevel=2)
    solid, cavities, voxels = fill_cavities(given)
    if cavities:
        from .report import sentences_on

        notes += sentences_on({"cavities_filled": cavities, "cavity_voxels": voxels})
    progress.check()
    labels, _count = label_components(solid)
    progress.check()
    prepared = perf_counter() - start

    def work(gpu: Any) -> ForceField:
        field = field_of_components(
            labels, strength, charge_distance, method, gpu, threads, progress=progress
        )
        return field if gpu is None else replace(field, peak_bytes=gpu.peak_bytes)

    found, cpu_used = on_device_or_cpu(checked_device(method, device), work)
    for note in cpu_used:
        warnings.warn(note, stacklevel=2)
    progress.advance(1.0)
    seconds = {"prepare": prepared, **found.seconds}
    return replace(found, seconds=seconds, notes=(*notes, *cpu_used, *found.notes))


def field_of_components(
    labels: np.ndarray,
    strength: int,
    charge_distance: int | None,
    method: str,
    gpu: Any = None,
    threads: int | None = None,
    unit_depth: np.ndarray | None = None,
    progress: Progress | None = None,
) -> ForceField:
    """The `ForceField` of components without cavities, labelled from 1 (or the mask of one).

    Parameters as of `force_field`; a charge distance of None is chosen so that thin parts are
    resolved. `unit_depth` (float32) are the distances to the outside in voxels, if they are known.
    The device keeps its copies of vectors and classes.
    """
    run = _FieldRun(method, strength, charge_distance, threads, gpu)
    return run.field(labels, unit_depth, Progress.of(progress))


class _FieldRun:
    """Sums the forces of one component after another, on the CPU or on a CUDA device."""

    def __init__(
        self, method: str, strength: int, layers: int | None, threads: int | None, gpu: Any
    ) -> None:
        self._strength, self._given_layers = strength, layers
        self._gpu, self._xp = gpu, np if gpu is None else gpu.xp
        self._summation = Summation(method, strength, threads, gpu)
        self._seconds = dict.fromkeys(("classify", "sum", "boundary", "place"), 0.0)
        self._last = perf_counter()

    def field(
        self, labels: np.ndarray, unit_depth: np.ndarray | None, progress: Progress
    ) -> ForceField:
        xp, gpu = self._xp, self._gpu
        vectors = xp.zeros((*labels.shape, 3), np.float32)
        classes = xp.zeros(labels.shape, np.uint8)
        owners = labels if gpu is None else gpu.put(labels)
        boxes, layers = boxes_of(labels), self._given_layers or 0
        sizes = [prod(side.stop - side.start for side in box) for box in boxes]
        ends = np.cumsum(sizes) / sum(sizes)
        for label, (box, size, end) in enumerate(zip(boxes, sizes, ends), start=1):
            part = progress.part(end - size / sum(sizes), end)
            depth = None
            if gpu is None and unit_depth is not None:
                depth = np.pad(unit_depth[box], 1)
            own_classes, own_vectors, layers = self._forces(owners[box] == label, depth, part)
            first = [side.start - layers for side in box]
            _place(own_classes, own_vectors, first, label, owners, classes, vectors, xp)
            del own_classes, own_vectors
            self._ended("place")
            part.advance(1.0)
        if gpu is not None:
            classes, vectors = (gpu.keep(gpu.get(each), each) for each in (classes, vectors))
            self._ended("place")
        summation, launch = self._summation, self._summation.launch
        return ForceField(
            vectors=vectors,
            classes=classes,
            object=labels.astype(bool, copy=False),
            labels=labels,
            strength=self._strength,
            charge_distance=layers,
            method=summation.method,
            device="cpu" if gpu is None else gpu.name,
            threads_per_block=launch and launch.threads,
            occupancy=launch and launch.occupancy,
            seconds=self._seconds,
            peak_bytes=summation.peak_bytes,
            notes=summation.notes,
        )

    def _forces(
        self, mask: Any, depth: np.ndarray | None, progress: Progress
    ) -> tuple[Any, Any, int]:
        """Classes and forces in the box of a component, dilated by layers; the layers."""
        xp, gpu, layers = self._xp, self._gpu, self._given_layers
        if layers is None:
            layers = automatic_charge_distance(xp.pad(mask, 1), depth, progress, gpu)
        classes, targets = classes_and_targets(xp.pad(mask, layers), layers, progress)
        self._ended("classify")
        vectors = xp.zeros((*classes.shape, 3), np.float32)
        try:
            self._summation.write(classes == SURFACE, targets, vectors, progress)
        except MemoryError as error:
            raise DeviceError(
                f"The memory does not suffice for the field of {mask.size} voxels: {error}. Crop "
                "the labelmap, or use method 'direct-serial', which is slow."
            ) from error
        clear_across(vectors, layers)
        self._ended("sum")
        average_boundary(classes, vectors, xp)
        self._ended("boundary")
        return classes, vectors, layers

    def _ended(self, stage: str) -> None:
        if self._gpu is not None:
            self._gpu.synchronize()
        now = perf_counter()
        self._seconds[stage] += now - self._last
        self._last = now


def _place(
    own_classes: Any,
    own_vectors: Any,
    first: list[int],
    label: int,
    labels: Any,
    classes: Any,
    vectors: Any,
    xp: Any,
) -> None:
    """Write the classes and forces of a solid's box to the volume, by NumPy or CuPy.

    The box begins at `first` in the volume and may reach beyond it. Voxels of other components
    (`labels` is not `label`) are not written, nor those outside of all components that have a class
    already.
    """
    ends = [min(a + n, size) for a, n, size in zip(first, own_classes.shape, labels.shape)]
    box = tuple(slice(max(a, 0), end) for a, end in zip(first, ends))
    own_box = tuple(slice(max(-a, 0), end - a) for a, end in zip(first, ends))
    free = (labels[box] == label) | ((labels[box] == 0) & (classes[box] == OUTSIDE))
    if not count_voxels(~free):  # one component: five times as fast
        classes[box], vectors[box] = own_classes[own_box], own_vectors[own_box]
    else:
        xp.copyto(classes[box], own_classes[own_box], where=free)
        xp.copyto(vectors[box], own_vectors[own_box], where=free[..., None])


# ---- Classes of voxels, and the solid that carries the charges; by NumPy or CuPy

RESOLVED_RADIUS = 6  # voxels from a ridge to the outside from which on the field is resolved
MAX_AUTOMATIC_DISTANCE = 2  # layers
THIN_PERCENTAGE = 10  # of the ridge that may be thinner than the field resolves


def classify_voxels(mask: np.ndarray) -> np.ndarray:
    """Classify the voxels of a volume: outside 0, surface 1, boundary 2, inner 3; uint8 (K, J, I).

    A surface voxel has an outside voxel among its 26 neighbours; a boundary voxel is not a surface
    voxel but has one among its 26 neighbours; an inner voxel is any other voxel of the object,
    which is where the mask (K, J, I or one slice) is not 0. All beyond the volume is outside
    (Zhao et al. 2016, section 1).

    Examples
    --------
    >>> classify_voxels(np.ones((7, 7, 7)))[3, 3]
    array([1, 2, 3, 3, 3, 2, 1], dtype=uint8)
    """
    solid = checked_object(mask)
    no_surface = erode(solid)
    return solid.astype(np.uint8) + no_surface + erode(no_surface)


def classes_and_targets(mask: Any, layers: int, progress: Progress) -> tuple[Any, Any]:
    """Voxel classes of a mask (bool) dilated by layers, and the voxels whose force is summed.

    The mask has a margin as wide as the layers. Targets (bool) are the inner voxels, and the
    boundary voxels without an inner one among their 26 neighbours.
    """
    for _layer in range(layers):
        mask = dilate(mask)
        progress.check()
    no_surface = erode(mask)
    inner = erode(no_surface)
    progress.check()
    classes = mask.view(np.uint8) + no_surface.view(np.uint8) + inner.view(np.uint8)
    return classes, inner | (no_surface & ~dilate(inner))


def average_boundary(classes: Any, vectors: Any, xp: Any) -> None:
    """Give boundary voxels the mean force of the inner voxels around them, in place.

    (Zhao et al. 2016, section 2.1.) No boundary voxel lies on the array's border.
    """
    forces, is_inner = vectors.reshape(-1, 3), (classes == INNER).ravel()
    voxels = xp.flatnonzero(classes == BOUNDARY)
    sums, counts = xp.zeros((len(voxels), 3)), xp.zeros(len(voxels), np.int64)
    _, rows, width = classes.shape
    for k, j, i in np.ndindex(3, 3, 3):
        near = voxels + (((k - 1) * rows + j - 1) * width + i - 1)
        is_near = is_inner[near]
        sums += xp.where(is_near[:, None], forces[near], np.float32(0))
        counts += is_near
    has_inner = xp.flatnonzero(counts)
    forces[voxels[has_inner]] = sums[has_inner] / counts[has_inner, None]


def clear_across(vectors: Any, layers: int) -> None:
    """Write the 0 that forces across a component one voxel thick have by symmetry.

    The sums to both sides cancel but for rounding, which differs from method to method: critical
    points would come and go with the last bits.
    """
    for axis in range(3):
        if vectors.shape[axis] == 2 * layers + 1:
            vectors.swapaxes(0, axis)[layers, ..., axis] = 0


def automatic_charge_distance(
    mask: Any, unit_depth: np.ndarray | None, progress: Progress, gpu: Any = None
) -> int:
    """Layers by which charges go outward so that the field resolves thin parts: 0 to 2.

    Judged by the distances to the outside, in voxels, on the ridge of these distances
    (`unit_depth`, if they are known; not used on a device). The mask (bool, K, J, I; the device's,
    if there is one) does not touch the border of the array.
    """
    with needs_numba():  # the package can be imported without it
        from FuzzyVesselCoreLib.voxels.distances import distance_on, distance_to_outside
    unit = (1.0, 1.0, 1.0)
    if gpu is not None:
        ridge = gpu.get(ridge_depths(distance_on(gpu, mask, unit, progress)))
    else:
        if unit_depth is None:
            unit_depth = distance_to_outside(mask.view(np.uint8), unit)
        ridge = ridge_depths(unit_depth)
    thin_radius = float(np.percentile(ridge, THIN_PERCENTAGE))
    return int(np.clip(np.ceil(RESOLVED_RADIUS - thin_radius), 0, MAX_AUTOMATIC_DISTANCE))


def ridge_depths(depth: Any) -> Any:
    """The depths (n,) of the voxels that none of their 26 neighbours exceeds in depth.

    `depth` (K, J, I; of NumPy or CuPy) is 0 outside the object and at the border.
    """
    flat, (_, rows, width) = depth.reshape(-1), depth.shape
    ridge = np.flatnonzero(flat > 0)
    for k, j, i in np.ndindex(3, 3, 3):
        near = ridge + (((k - 1) * rows + j - 1) * width + i - 1)
        ridge = ridge[flat[ridge] >= flat[near]]
    return flat[ridge]
