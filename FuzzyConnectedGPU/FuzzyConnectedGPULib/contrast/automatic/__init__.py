"""Seeds without a click: the axes of the strongest tubes.

`automatic_seeds` (entry) -> `first_seed` (the voxel that the evidence starts from) -> evidence ->
`tubes` (candidates, chosen far from one another), ranked by `tubularity`.
"""
