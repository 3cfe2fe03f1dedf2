"""The closed surface of labelled voxels: the triangles that Slicer shows a segment with.

`closed_surface` is the entry; the other files are its steps: `triangles` (with the table
`cell_cases`), `smoothing` and `normals`.
"""
