"""The exact solver for the CPU by blocks of voxels, each worked on by one core.

`blocks` (entry) -> `rows` (a row of blocks: `edges` -> `edge_list`, `components` -> `trees`) ->
`nodes` (the graph of all blocks, and values for the voxels). `scratch` has the arrays of a thread.
"""
