"""The six neighbours of a voxel in a flat K, J, I volume, for the compiled CPU solvers."""

from numba import njit

neighbour_count = 6


@njit(cache=True)
def neighbour(voxel, side, shape):
    """Flat index of the neighbour on `side` (-I, +I, -J, +J, -K, +K); -1 outside the volume."""
    row, plane = shape[2], shape[1] * shape[2]
    if side == 0:
        return voxel - 1 if voxel % row > 0 else -1
    if side == 1:
        return voxel + 1 if voxel % row < row - 1 else -1
    if side == 2:
        return voxel - row if voxel % plane >= row else -1
    if side == 3:
        return voxel + row if voxel % plane < plane - row else -1
    if side == 4:
        return voxel - plane if voxel >= plane else -1
    return voxel + plane if voxel < plane * (shape[0] - 1) else -1
