"""Curve skeletons on the MRML scene: from a labelmap or a segment to curves, models and tables.

`solid` reads the object, `outputs` runs and writes; `tree` is what is done with a result;
`PotentialSkeletonLib`, which knows neither Slicer nor VTK, does the rest.
"""
