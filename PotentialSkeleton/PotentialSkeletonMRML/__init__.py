"""Curve skeletons on the MRML scene: from a labelmap or a segment to curves, models and tables.

`solid_input` reads the object, `outputs` writes all nodes at once; `PotentialSkeletonLib`, which
knows neither Slicer nor VTK, does the rest.
"""
