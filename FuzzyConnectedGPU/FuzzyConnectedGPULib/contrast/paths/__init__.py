"""Stage 2: widest paths of the weakest voxel over 26 neighbours.

`widest_paths` (CPU) and `cuda_widest_paths` give the same levels bit for bit; `flood` has the flood
fill of a component above a threshold.
"""
