"""Skeletons in the formats of other programs; .vtp, .stl, .ply are in `PotentialSkeletonMRML`."""
# ruff: noqa: F401

from .tables import read_courses, write_csv_pair, write_graphml, write_simvascular
from .vmtk import (
    BETWEEN,
    LPS,
    RAS,
    LineSet,
    check_names,
    names_of_lines,
    network,
    rooted_centrelines,
    split_centrelines,
    whole_file,
    world_matrix,
)
