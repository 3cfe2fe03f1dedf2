"""Skeletons in the formats of other programs; .vtp, .stl, .ply are in `PotentialSkeletonMRML`."""
# ruff: noqa: F401

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
