"""Names of `topology`."""

from . import FACES, NEIGHBOURS_18, is_connected_26, is_simple, neighbour_bits  # noqa: F401
