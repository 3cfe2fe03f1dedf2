"""Volumes that are read and written box by box: NumPy, zarr and Dask arrays, and paths of them.

`store` (reading and writing) -> `opening` (what a path names), `chunks` (which there are) and
`missing_chunks` with `pyramid` (what one means that has no file); `creating` makes new arrays.
"""

from .creating import create, record_chunks
from .opening import import_zarr
from .store import Store

__all__ = ["Store", "create", "import_zarr", "record_chunks"]
