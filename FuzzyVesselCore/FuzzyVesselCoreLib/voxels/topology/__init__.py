"""Digital topology of voxel objects: 26-connected object, 6-connected background.

`simple_points` decides by the 26 neighbours whether a voxel can be removed; `euler` counts over a
whole mask, `sparse` over a list of voxels.
"""
