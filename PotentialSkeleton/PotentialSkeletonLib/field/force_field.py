"""The potential field of an object: the face that a person meets first."""

import warnings
from dataclasses import dataclass, field, replace
from math import prod
from operator import index
from time import perf_counter

import numpy as np

from FuzzyVesselCoreLib.compilation import compiled_code
from FuzzyVesselCoreLib.errors import DeviceError, InputError
from FuzzyVesselCoreLib.gpu.device import choose_device
from FuzzyVesselCoreLib.progress import reporter

from ..jit_warmup import wait_until_ready
from ..messages import changes
from ..object.solids import fill_cavities, label_components, solids
from ..object.voxel_classes import BOUNDARY, checked_object
from .cuda_solid import SolidOnCuda
from .methods import CPU_METHODS, FORCE_METHODS
from .summation import Summation, checked_device

WEAKEST_STRENGTH, STRONGEST_STRENGTH = 2, 9


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
        The number, from 1, of the 26-connected component of `object`; 0 outside of it.
    strength, charge_distance : int
    method : str
        The method that was used; never "auto".
    device : str
        "cpu", or the ordinal and name of the CUDA card.
    threads_per_block : int or None
        Of the direct CUDA methods: chosen for the highest occupancy.
    occupancy : float or None
        Active warps of a multiprocessor, as a share of the most it can hold (paper, eq. 2).
    seconds : dict of str to float
        Time of each stage, in the order of the stages.
    peak_bytes : int
        Most memory that the summation held: on the card for CUDA, else in the host's memory, about.
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
    seconds: dict
    peak_bytes: int
    notes: tuple = field(default=())


def force_field(
    mask, strength=6, *, method="auto", charge_distance=0, device="auto", progress=None
):
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
        Each component is dilated by so many layers of 26 neighbours before its surface is charged.
        Where dilated components overlap, outside of both, the one with the lower label has the
        voxel.
    device : str
        "auto" (CUDA where it is usable, else the CPU), "cpu", "cuda", "cuda:1". Where the card's
        memory does not hold the whole convolution, parts of it wait in the computer's memory; where
        it does not hold the object, "auto" takes the CPU. Notes say so.
    progress : callable, optional
        ``progress(fraction) -> bool``; the run is cancelled where it returns False.

    Returns
    -------
    ForceField

    Raises
    ------
    InputError
        If mask, strength, method, charge_distance or device cannot be worked with.
    DeviceError
        If the device that was asked for is not usable or has too little memory.
    Cancelled
        If `progress` returned False.
    """
    strength, charge_distance = check_options(strength, method, charge_distance)
    choose_device(checked_device(method, device))  # a wrong word is named before the work begins
    report = reporter(progress)
    wait_until_ready(report)
    report(0.0)
    start = perf_counter()
    solid, notes = prepared_object(mask, strength, lambda: report(0.0))
    report(0.0)
    labels, _ = label_components(solid, lambda: report(0.0))
    report(0.0)
    prepared = perf_counter() - start
    field = field_of_components(
        solid, labels, strength, charge_distance=charge_distance, method=method, device=device,
        report=report,
    )  # fmt: skip
    report(1.0)
    return replace(field, seconds={"prepare": prepared, **field.seconds}, notes=notes + field.notes)


def field_of_components(solid, labels, strength, *, charge_distance, method, device, report):
    """As `force_field`, of components without cavities that are labelled already.

    Parameters
    ----------
    solid : ndarray of bool, shape (K, J, I)
    labels : ndarray of int, shape (K, J, I)
        From 1; 0 outside of the object.
    report : callable
        Called with the share that is done; raises to cancel.
    """
    chosen = choose_device(checked_device(method, device))
    task = (labels, strength, charge_distance, method)
    notes = ()
    try:
        found = _on_device(task, report, chosen)
    except DeviceError as error:
        if chosen == "cpu" or device != "auto" or method not in CPU_METHODS:
            raise
        notes = (f"The CPU was used: {error}",)
        warnings.warn(notes[0], stacklevel=3)
        found = _on_device(task, report, "cpu")
    found["notes"] = notes + found["notes"]
    return ForceField(
        object=solid, labels=labels, strength=strength, charge_distance=charge_distance, **found
    )


def _on_device(task, report, chosen):
    """What the run finds, by the names of `ForceField`'s attributes."""
    if chosen == "cpu":
        return {**_run(*task, report, None), "device": "cpu"}
    with chosen:
        found = _run(*task, report, chosen)
        return {**found, "device": chosen.name, "peak_bytes": chosen.peak_bytes}


def _run(labels, strength, charge_distance, method, report, gpu):
    """Sum the forces of all solids and write them to the volume."""
    with compiled_code():
        from .scatter import place_solid
    vectors = np.zeros((*labels.shape, 3), np.float32)
    classes = np.zeros(labels.shape, np.uint8)
    summation = Summation(method, strength, gpu)
    watch = Watch()
    parts = list(solids(labels, charge_distance))
    total = sum(volume_of(part.extent) for _, part in parts)
    done = 0.0
    while parts:
        label, part = parts.pop(0)
        report(done)
        now = done + volume_of(part.extent) / total
        field_of_solid = on_cpu if gpu is None else on_cuda
        found = field_of_solid(part, summation, watch, share(report, done, now))
        report(now)
        place_solid(part, label, labels, *found, classes, vectors)
        watch("place")
        done = now
    launch = summation.launch
    return dict(
        vectors=vectors,
        classes=classes,
        method=summation.used,
        threads_per_block=launch and launch.threads,
        occupancy=launch and launch.occupancy,
        seconds=watch.seconds,
        peak_bytes=summation.host_bytes,
        notes=summation.notes(),
    )


def volume_of(box):
    """Voxels of a box."""
    return prod(side.stop - side.start for side in box)


class Watch:
    """Seconds of stages, each from the end of the one before."""

    def __init__(self):
        self.seconds = dict.fromkeys(("classify", "sum", "boundary", "place"), 0.0)
        self._last = perf_counter()

    def __call__(self, stage):
        now = perf_counter()
        self.seconds[stage] += now - self._last
        self._last = now


def on_cpu(part, summation, watch, report):
    """Classes and vectors of one solid in its box."""
    from .neighbour_mean import average_boundary

    vectors = np.zeros((*part.object.shape, 3), np.float32)
    part.find_all(lambda: report(0.0))  # so that it counts as classifying
    report(0.0)
    watch("classify")
    summation(part, vectors, report)
    watch("sum")
    average_boundary(part.classes, vectors)
    watch("boundary")
    return part.classes, vectors


def on_cuda(part, summation, watch, report):
    """The same on the card; vectors (n, 3) of the boundary and inner voxels alone."""
    gpu = summation.gpu
    solid = SolidOnCuda(gpu.put(part.object.view(np.uint8)), part.charge_distance, gpu)
    vectors = solid.forces(summation, watch, report)
    listed = vectors.reshape(-1, 3)[gpu.xp.flatnonzero(solid.classes >= BOUNDARY)]
    found = gpu.get(solid.classes), gpu.get(listed)
    watch("place")
    return found


def check_options(strength, method, charge_distance):
    """Strength and charge distance as integers; `InputError` if an option cannot be worked with."""
    whole = {"strength": strength, "charge distance": charge_distance}
    for name, value in whole.items():
        try:
            whole[name] = index(value.item() if isinstance(value, np.generic) else value)
        except TypeError as error:
            raise InputError(f"The {name} is {value!r}; a whole number is needed.") from error
    strength, charge_distance = whole.values()
    if not WEAKEST_STRENGTH <= strength <= STRONGEST_STRENGTH:
        raise InputError(f"The strength is {strength}; choose a whole number from 3 to 9.")
    if method not in FORCE_METHODS:
        raise InputError(f"Unknown method {method!r}; one of {', '.join(FORCE_METHODS)}.")
    if charge_distance < 0:
        raise InputError(f"The charge distance is {charge_distance} layers; it cannot be negative.")
    return strength, charge_distance


def share(report, start, end):
    """A report on a part of the whole, from `start` to `end`."""
    return lambda fraction: report(start + fraction * (end - start))


def prepared_object(mask, strength, report=None):
    """The object with its cavities filled, and what the user should know of it."""
    given = checked_object(mask)
    if not given.any():
        raise InputError("The labelmap is empty: there is no object to take a skeleton of.")
    notes = []
    if strength == WEAKEST_STRENGTH:
        notes.append("At strength 2 the field has no attractors; choose 3 to 9 for a skeleton.")
        warnings.warn(notes[-1], stacklevel=3)
    solid, cavities, voxels = fill_cavities(given, report)
    if cavities:
        notes += changes({"cavities_filled": cavities, "cavity_voxels": voxels})
    return solid, tuple(notes)
