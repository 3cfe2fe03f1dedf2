"""Skeletons in the formats of other programs.

What needs VTK to be written (.vtp, .stl, .ply) is in `PotentialSkeletonMRML`.
"""

from .line_set import (
    BETWEEN,
    LPS,
    RAS,
    LineSet,
    check_names,
    names_of_lines,
    whole_file,
    world_matrix,
)
from .simvascular import write_simvascular
from .tables import read_courses, write_csv_pair, write_graphml
from .vmtk import network, rooted_centrelines, split_centrelines

__all__ = [
    "BETWEEN",
    "LPS",
    "RAS",
    "LineSet",
    "check_names",
    "names_of_lines",
    "network",
    "read_courses",
    "rooted_centrelines",
    "split_centrelines",
    "whole_file",
    "world_matrix",
    "write_csv_pair",
    "write_graphml",
    "write_simvascular",
]
