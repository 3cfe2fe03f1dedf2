"""Names of `topology`."""

from . import SparseTopology, adjacent_pairs, sparse_topology  # noqa: F401
