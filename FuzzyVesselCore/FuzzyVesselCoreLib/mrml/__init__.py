"""MRML nodes in and out, without Qt.

In: `reading` (voxels, matrices, masks) and `points` (markups). Out: `ownership` says what may be
written, and writes the nodes of a run with `images`, `segments` (which a run wrote, and what they
are) and `surfaces`; `provenance` says whether a result is up to date.
"""
