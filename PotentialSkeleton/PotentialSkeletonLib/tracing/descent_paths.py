"""Geodesic descent paths: from voxels towards a core, up to where there is a force."""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled

NO_FORCES = np.empty((0, 3), np.float32)


def descent_paths(
    distances: np.ndarray, forces: np.ndarray | None, voxels: np.ndarray
) -> list[np.ndarray]:
    """From each voxel the path along falling distances, as far as there is no force.

    Of neighbours that are equally near to the core the first, in K, J, I, is the next.

    Parameters
    ----------
    distances : ndarray of int32, shape (K, J, I)
        From the core, along the object; -1 outside. The border is outside.
    forces : ndarray, shape (K, J, I, n), or None
        0 where there is none; only that is looked at.
    voxels : ndarray of int, (n,)
        Flat indices of voxels of the object.

    Returns
    -------
    list of ndarray of int, (n, 3)
        Voxels K, J, I. Each begins at its voxel; the last has a force or is in the core.
    """
    shape = np.array(distances.shape)
    forces = NO_FORCES if forces is None else forces.reshape(-1, forces.shape[3])
    return [descent_path(distances.reshape(-1), forces, shape, voxel) for voxel in voxels]


@compiled
def descent_path(
    distances: np.ndarray, forces: np.ndarray, shape: np.ndarray, voxel: int
) -> np.ndarray:
    row, plane = shape[2], shape[1] * shape[2]
    path = [voxel]
    while voxel >= forces.shape[0] or not (
        forces[voxel, 0] != 0 or forces[voxel, 1] != 0 or forces[voxel, 2] != 0
    ):
        nearest = voxel
        for n in range(27):
            other = voxel + (n // 9 - 1) * plane + (n // 3 % 3 - 1) * row + n % 3 - 1
            if 0 <= distances[other] < distances[nearest]:
                nearest = other
        if nearest == voxel:
            break
        voxel = nearest
        path.append(voxel)
    voxels = np.empty((len(path), 3), np.int64)
    for n in range(len(path)):
        voxels[n, 0], rest = divmod(path[n], plane)
        voxels[n, 1], voxels[n, 2] = divmod(rest, row)
    return voxels
