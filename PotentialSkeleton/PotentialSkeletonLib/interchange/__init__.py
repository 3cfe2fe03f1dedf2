"""Skeletons in the formats of other programs, one file a format."""

from .csv_pair import write_csv_pair
from .graphml import read_courses, write_graphml
from .line_set import LineSet
from .simvascular import write_simvascular
from .surfaces import object_surface, tube_surface, write_surface
from .vmtk import network, rooted_centrelines, split_centrelines
from .vtp import poly_data, write_vtp

__all__ = [
    "LineSet",
    "network",
    "object_surface",
    "poly_data",
    "read_courses",
    "rooted_centrelines",
    "split_centrelines",
    "tube_surface",
    "write_csv_pair",
    "write_graphml",
    "write_simvascular",
    "write_surface",
    "write_vtp",
]
