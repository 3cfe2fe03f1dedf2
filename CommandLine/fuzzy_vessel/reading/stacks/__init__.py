"""Stacks of microscopes: OME-Zarr folders and TIFF files (private to the command line).

`ome_zarr` and `tiff` read a `Stack` of one channel and time point, `nodes` makes it a volume of the
scene. zarr and tifffile are optional extras. Of the readers of OME-Zarr zarr alone is used: the
metadata are a dozen lines of JSON, while ngff-zarr brings dask and ITK for them. What a folder says
of itself is checked in plain Python before zarr opens it (`FuzzyVesselCoreLib.files.zarr_guard`).
"""

from .choice import Choice
from .nodes import add_labelmap, add_volume, notes_of
from .opening import is_stack, read_stack
from .stack import Stack

__all__ = ["Choice", "Stack", "add_labelmap", "add_volume", "is_stack", "notes_of", "read_stack"]
