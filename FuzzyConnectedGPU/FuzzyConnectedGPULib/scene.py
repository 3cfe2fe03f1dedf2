"""The fuzzy scene, each voxel's connectedness to the seeds; and the memory that a run needs."""

from dataclasses import dataclass

import numpy as np

from FuzzyVesselCoreLib.errors import InputError


@dataclass(frozen=True)
class FuzzyScene:
    """Connectedness of every voxel to the seeds, and how it was computed.

    Attributes
    ----------
    values : ndarray, float32, of the volume's shape (K, J, I)
        0..1; seeds have 1, voxels that no path reaches have 0.
    solver : str
    device : str
        "cpu", or the ordinal and name of the CUDA device.
    rounds : int
        Kernel rounds until nothing changed; 0 on the CPU.
    seconds : dict of str to float
        Time of each stage, in the order of the stages.
    peak_bytes : int
        Most memory of the solver at a time: on the device for CUDA, else in host memory, without
        the given volume and the returned values.
    notes : tuple of str
        Messages for the user, for example why the CPU was used.
    """

    values: np.ndarray
    solver: str
    device: str
    rounds: int
    seconds: dict[str, float]
    peak_bytes: int
    notes: tuple[str, ...] = ()


def error_voxels(scene: FuzzyScene | np.ndarray, reference: FuzzyScene | np.ndarray) -> int:
    """Number of voxels whose connectedness differs from the reference's (the papers' error points).

    Raises `InputError` if the shapes differ.

    Examples
    --------
    >>> import numpy as np
    >>> error_voxels(np.array([0.2, 1.0]), np.array([0.3, 1.0]))
    1
    """
    first, second = scene_values(scene), scene_values(reference)
    if first.shape != second.shape:
        raise InputError(
            f"The scenes have shapes {first.shape} and {second.shape}; they must agree."
        )
    return int(np.count_nonzero(first != second))


def scene_values(scene: FuzzyScene | np.ndarray) -> np.ndarray:
    """The values of a `FuzzyScene`, or the array itself."""
    return scene.values if isinstance(scene, FuzzyScene) else np.asarray(scene)
