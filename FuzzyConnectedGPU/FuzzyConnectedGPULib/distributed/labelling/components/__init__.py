"""Components of an object over blocks, from the pieces that lie in each.

`pieces` (of a block) -> `adjoining` (those of neighbours are joined) -> `closing` (what nothing can
be added to is whole) -> `component_table` (which are taken, and their numbers) -> `numbering` (the
numbers, voxel by voxel).
"""
