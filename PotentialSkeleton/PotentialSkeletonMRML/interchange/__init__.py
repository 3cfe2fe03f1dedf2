"""What needs VTK: centrelines as .vtp, surfaces as .stl and .ply; `scene` adds
models and curves.
"""

from .surfaces import object_surface, tube_surface, write_surface
from .vtp import poly_data, write_vtp

__all__ = ["object_surface", "poly_data", "tube_surface", "write_surface", "write_vtp"]
