"""Skeletons in the formats of other programs, one file a format."""

from .line_set import LineSet
from .vmtk import network, rooted_centrelines, split_centrelines
from .vtp import poly_data, write_vtp

__all__ = [
    "LineSet",
    "network",
    "poly_data",
    "rooted_centrelines",
    "split_centrelines",
    "write_vtp",
]
