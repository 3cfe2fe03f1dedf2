"""Relative connectedness: several objects compete for the voxels, and ties are reported.

Definitions
-----------
An object is a *group* of points. ``C_g(v)`` is the connectedness of voxel v to group g: the
largest, over all paths from a point of g to v, of the weakest affinity level along the path, as
`connectedness` computes it. In a point of g it is 65536, above every path: a point belongs to its
group whatever surrounds it. ``L(v)`` is the largest ``C_g(v)`` over all groups.

*Relative connectedness* (RFC; Udupa, Saha and Lotufo 2002): v belongs to g where ``C_g(v)`` is
above ``C_h(v)`` of every other group h. Where two groups or more attain L(v) > 0, v is *disputed*;
where no group has more than 0, it belongs to nobody. It is computed as it is defined, with a scene
for each group.

*Iterative relative connectedness* (IRFC; Ciesielski, Udupa, Saha and Zhuge 2007): ``W_g`` is first
what g has by RFC. In each round the paths of all other groups avoid W_g, and the new W_g is where
``C_g(v)`` is above all their values; W_g only grows, and the rounds end when nothing changes.

What is computed for IRFC
-------------------------
One scene of all points gives L. An edge of level w from u is *optimal* for v where ``w >= L(v)``
and ``L(u) >= L(v)``. Let O be the least solution of: a point has its own group; any other v has
what its optimal neighbours have, "several" where these differ or one has "several". Then g has v by
IRFC where ``O(v) = g``, and v is disputed where O(v) is "several". Proof, from the highest level
down. If an optimal path of h meets at u what g has, g itself can go on from u, as
``C_g(u) >= L(v)``; so from the last such voxel on, the path is unblocked for the group that has it,
and some group always attains L(v). The voxels of level t that are connected by edges of at least t
share one fate, since a group that reaches one reaches all. It is decided where paths enter from
higher levels: from a voxel that g has only g enters, from a disputed one at least two groups do,
whichever they are. The equations are monotone in nobody < g < several, so every order of evaluation
ends in the same least solution (`division`).

All is integer arithmetic on the 65,536 levels of `GaussianAffinity`. The tests compare it with the
definitions, path by path and round by round. The model "contrast" replaces the affinity of an edge
by the lower contrast of its two voxels, over 26 neighbours; the definitions, the proof and the rule
for ties hold for any levels of edges.

Several vessels in one run
--------------------------
1. *Scene.* `segment` computes one fuzzy scene of the points of all vessels: which voxels are vessel
   at all, at one threshold. With one vessel this is all, bit for bit.
2. *Division* (`vessels`). Each voxel that the scene reaches goes to the vessel that reaches it with
   the strongest path, by IRFC on the levels of the scene's own model, from its points and, by
   contrast, from the middle of the vessel near each (`with_middles`); paths stay in the scene.
   Background points are one more group: they take what they reach strongest, such as a wide vessel
   beside. Voxels that two vessels reach equally are disputed. Voxels without level (of points
   without contrast, and filled gaps) go to the vessel that is the fewest steps over 26 neighbours
   away (`share_unowned`). The division does not depend on the threshold.
3. *Labels* (`segmentation.relabel`). The scene cut at a threshold, each voxel with the label of its
   vessel, 0 where it is disputed; then branches that were handed over (`branches`).

No two vessels ever overlap, since each voxel has one label. On a liver CT with three clicks for the
portal and three for the hepatic veins the division gives Dice .72 and .65 and 0.1 % of the vessels'
voxels to the wrong one; vessels one after the other .50 and .32 with 24 %.

The *branch* of a voxel p of a vessel is what lies beyond p as seen from the vessel's points. Let
D(v) be the length in mm of the shortest way inside the vessel (26 neighbours) from v to the nearest
of its points. The branch is the 26-connected component with p of the voxels v of the vessel with
``D(v) >= D(p)``; a voxel without any way to a point counts as infinitely far. Handing it over gives
exactly these voxels to another vessel. Points are honoured: none lies in the branch of another
voxel, as its D is 0. Hand-overs follow in their order, each on the result of those before; the
voxel of one that had effect counts as a point of its new vessel in the next.

References
----------
J. K. Udupa, P. K. Saha, R. A. Lotufo: Relative fuzzy connectedness and object definition: theory,
algorithms, and applications in image segmentation. IEEE TPAMI 24 (2002), section 2.
K. C. Ciesielski, J. K. Udupa, P. K. Saha, Y. Zhuge: Iterative relative fuzzy connectedness for
multiple objects with multiple seeds. CVIU 107 (2007), sections 2 and 3.
K. C. Ciesielski, J. K. Udupa, A. X. Falcao, P. A. V. Miranda: Fuzzy connectedness image
segmentation in graph cut formulation. JMIV 44 (2012).
"""

from .relative_connectedness import RelativeConnectedness, relative_connectedness

__all__ = ["RelativeConnectedness", "relative_connectedness"]
