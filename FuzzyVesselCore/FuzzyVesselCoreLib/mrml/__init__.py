"""MRML nodes in and out, without Qt.

In: `reading` (voxels, matrices, masks) and `points` (markups). Out: `writing` (which nodes may be
written, nodes added and filled), `segments` (which a run wrote, and what they are) and `surfaces`;
`provenance` says whether a result is up to date.
"""
