"""MRML nodes in and out, without Qt.

In: `reading` (voxels, matrices), `points` (markups), `regions` and `segment_masks` (masks). Out:
`outputs` writes a run's nodes with `images`, `segments` and `surfaces`; `ownership` says what may
be written, `segment_origin` which segments a run wrote, `provenance` what a result was made of, and
`changes` puts everything back where a run fails. `roi_fit`, `new_points` and `phantom_nodes` make
nodes for the panels and tests.
"""
