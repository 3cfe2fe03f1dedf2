"""MRML nodes in and out, without Qt.

In: `reading` (voxels, matrices), `points` (markups) and `regions` (masks). Out: `outputs` writes
the nodes of a run with `images`, `segments` and `surfaces`; `ownership` says what may be written,
`segment_origin` which segments a run wrote, `provenance` whether a result is up to date.
"""
