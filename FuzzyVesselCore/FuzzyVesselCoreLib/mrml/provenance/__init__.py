"""What a result was made of, so that an edit of it afterwards is noticed.

`mask_fingerprint` tells whether a mask, labelmap or segment still has the same voxels, also after
saving and loading; `voxel_times` tells whether a volume was edited since a run, at no cost.
"""
