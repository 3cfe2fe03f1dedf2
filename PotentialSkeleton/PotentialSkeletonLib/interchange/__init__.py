"""Skeletons in the formats of other programs, one file a format.

What needs VTK to be written (.vtp, .stl, .ply) is in `PotentialSkeletonMRML.interchange`.
"""

from .csv_pair import write_csv_pair
from .graphml import read_courses, write_graphml
from .line_set import LineSet
from .simvascular import write_simvascular
from .vmtk import network, rooted_centrelines, split_centrelines

__all__ = [
    "LineSet",
    "network",
    "read_courses",
    "rooted_centrelines",
    "split_centrelines",
    "write_csv_pair",
    "write_graphml",
    "write_simvascular",
]
