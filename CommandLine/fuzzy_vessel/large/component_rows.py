"""The table of components, components.csv."""

from pathlib import Path

import numpy as np

from FuzzyConnectedGPULib.distributed import ComponentTable
from FuzzyVesselCoreLib.errors import InputError

COMPONENTS = "components.csv"
COLUMNS = "component,voxels,first_i,first_j,first_k,last_i,last_j,last_k"


def write_components(folder: Path, table: ComponentTable) -> None:
    """Write numbers, voxels and boxes (first and last voxel); the file is complete or absent."""
    numbers = np.arange(1, table.sizes.size + 1)
    rows = np.column_stack([numbers, table.sizes, table.low[:, ::-1], table.high[:, ::-1] - 1])
    partial = folder / f".{COMPONENTS}"
    try:
        np.savetxt(partial, rows, "%d", ",", header=COLUMNS, comments="")
        partial.replace(folder / COMPONENTS)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def read_components(folder: Path) -> ComponentTable:
    """The table of an earlier run.

    Raises
    ------
    InputError
    """
    place = folder / COMPONENTS
    try:
        rows = np.loadtxt(place, np.int64, delimiter=",", skiprows=1, ndmin=2).reshape(-1, 8)
    except ValueError as error:
        raise InputError(f"{place} cannot be read ({error}): name another --out.") from error
    return ComponentTable(rows[:, 1], rows[:, 4:1:-1], rows[:, 7:4:-1] + 1)
