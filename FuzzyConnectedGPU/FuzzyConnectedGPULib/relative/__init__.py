"""Relative connectedness: several objects compete for the voxels, and ties are reported.

A voxel belongs to the group of points that reaches it with the strongest path (relative
connectedness; Udupa, Saha and Lotufo 2002), iteratively: the paths of others avoid what a group has
(Ciesielski, Udupa, Saha and Zhuge 2007). Where two reach it equally it is *disputed*. Definitions,
and the proof that one scene and its optimal edges give the iterative one, are in
`Documentation/decisions/0012-several-vessels.md`; the tests compare with the definitions, path by
path and round by round.

Several vessels in one run:

1. `segment` computes one fuzzy scene of the points of all vessels: which voxels are vessel at all,
   at one threshold. With one vessel this is all, bit for bit.
2. `division` divides it: each voxel that the scene reaches goes to the vessel that reaches it with
   the strongest path, on the levels of the scene's own model. Background points are one more group.
   Voxels without level go to the vessel that is the fewest steps away (`share_unowned`). The
   division does not depend on the threshold.
3. `segmentation.relabel` cuts the scene at a threshold, each voxel with the label of its vessel, 0
   where it is disputed; then branches are handed over.
"""
