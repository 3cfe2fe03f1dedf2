"""Files that are written through VTK: centrelines as .vtp, surfaces as .stl and .ply."""

from .surfaces import object_surface, tube_surface, write_surface
from .vtp import poly_data, write_vtp

__all__ = ["object_surface", "poly_data", "tube_surface", "write_surface", "write_vtp"]
