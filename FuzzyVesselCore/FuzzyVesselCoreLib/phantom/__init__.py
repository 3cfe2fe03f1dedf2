"""A synthetic contrast CT of a liver with known vessels and centrelines.

`liver` (`liver_phantom`, public) -> `vascular_tree` (both vessel trees) -> `image` (voxels:
`anatomy`, `tissues`, `tubes`, noise) -> `clicks` (seeds and background seeds).
"""
