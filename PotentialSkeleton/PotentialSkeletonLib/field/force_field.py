"""The force field of an object: the public function and its result."""

import warnings
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.gpu.selection import choose_device
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback
from FuzzyVesselCoreLib.voxels.components.labels import fill_cavities, label_components

from ..jit_warmup import wait_for_warm_up
from ..messages import changes
from ..object.voxel_classes import checked_object
from .component_fields import forces_of_components
from .force_options import MIN_STRENGTH, check_options
from .methods import CPU_METHODS
from .summation import checked_device


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
        "cpu", or the ordinal and name of the CUDA device.
    threads_per_block : int or None
        Of the direct CUDA methods: chosen for the highest occupancy.
    occupancy : float or None
        Active warps of a multiprocessor, as a share of its maximum (paper, eq. 2).
    seconds : dict of str to float
        Time of each stage, in the order of the stages.
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
    notes: tuple[str, ...] = field(default=())


def force_field(
    mask: np.ndarray,
    strength: int = 6,
    *,
    method: str = "auto",
    charge_distance: int = 0,
    device: str = "auto",
    progress: ProgressCallback | None = None,
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
        "auto" (CUDA if it is usable, else the CPU), "cpu", "cuda", "cuda:1". If the
        device's memory does not hold the whole convolution, parts of it wait in host memory; if it
        does not hold the object, "auto" takes the CPU. Notes say so.
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
    report = Progress.of(progress)
    wait_for_warm_up(report)
    report.advance(0.0)
    start = perf_counter()
    solid, notes = prepared_object(mask, strength, report)
    report.check()
    labels, _ = label_components(solid, progress=report)
    report.check()
    prepared = perf_counter() - start
    found = field_of_components(
        solid, labels, strength, charge_distance=charge_distance, method=method, device=device,
        progress=report,
    )  # fmt: skip
    report.advance(1.0)
    return replace(found, seconds={"prepare": prepared, **found.seconds}, notes=notes + found.notes)


def field_of_components(
    solid: np.ndarray,
    labels: np.ndarray,
    strength: int,
    *,
    charge_distance: int,
    method: str,
    device: str,
    progress: Progress | None = None,
) -> ForceField:
    """Return the `ForceField` of components without cavities that are labelled already.

    Parameters
    ----------
    solid : ndarray of bool, shape (K, J, I)
    labels : ndarray of int, shape (K, J, I)
        From 1; 0 outside of the object.
    strength, charge_distance, method, device
        As for `force_field`.
    progress : Progress, optional
    """
    chosen = choose_device(checked_device(method, device))
    gpu = None if chosen == "cpu" else chosen
    may_fall_back = device == "auto" and method in CPU_METHODS
    task = (labels, strength, charge_distance, method, Progress.of(progress))
    found = forces_of_components(*task, gpu, may_fall_back)
    return ForceField(
        object=solid, labels=labels, strength=strength, charge_distance=charge_distance, **found
    )


def prepared_object(
    mask: np.ndarray, strength: int, progress: Progress
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the object with its cavities filled, and notes for the user."""
    given = checked_object(mask)
    if not given.any():
        raise InputError("The labelmap is empty: there is no object to take a skeleton of.")
    notes = []
    if strength == MIN_STRENGTH:
        notes.append("At strength 2 the field has no attractors; choose 3 to 9 for a skeleton.")
        warnings.warn(notes[-1], stacklevel=3)
    solid, cavities, voxels = fill_cavities(given, progress)
    if cavities:
        notes += changes({"cavities_filled": cavities, "cavity_voxels": voxels})
    return solid, tuple(notes)
