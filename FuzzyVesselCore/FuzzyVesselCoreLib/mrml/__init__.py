"""MRML nodes in and out, without Qt.

In: `reading` (voxels, matrices), `points` (markups) and `regions` (masks). Out: `ownership` says
what may be written, and writes the nodes of a run with `images`, `segments` (which a run wrote,
`terminology`) and `surfaces`; `provenance` says whether a result is up to date.
"""
