"""Relative connectedness: several objects compete for the voxels, and ties are reported.

Definitions
-----------
An object is a *group* of points. ``C_g(v)`` is the connectedness of voxel v to group g: the largest,
over all paths from a point of g to v, of the weakest affinity level along the path, as
`connectedness` computes it. A point of g has more than every path: ``C_g = 65536`` in it, so that
it belongs to g whatever lies round it. ``L(v)`` is the largest ``C_g(v)`` over all groups.

*Relative connectedness* (RFC; Udupa, Saha and Lotufo 2002): v belongs to g where ``C_g(v)`` is
above ``C_h(v)`` of every other group h. Where the largest value is attained by two groups or more, v
is *disputed*; where no group has more than 0, it belongs to nobody.

*Iterative relative connectedness* (IRFC; Ciesielski, Udupa, Saha and Zhuge 2007): ``W_g(0)`` is
what g has by RFC. In round n + 1 the paths of all other groups avoid what g has, and g has the
voxels in which ``C_g(v)`` is above all their values; so what it has only grows, and the rounds end.

What is computed
----------------
1. *RFC.* For each voxel the value ``V1 = L`` of its best group, that group, and the value ``V2`` of
   the best other group are known; v belongs to the best group just where ``V1 > V2``. Let pieces
   be contracted along a maximum spanning forest as in `solvers.blocks` and `solvers.contraction`. A voxel v
   that hangs on a node n by a way of level t, and has no better edge that leads elsewhere, has
   ``C_g(v) = min(t, C_g(n))`` for *every* group g: at least that by way of n, and no more, as
   every path to v comes through v's best edges (at most t), and n is reached from v with t. So
   the numbers V1, V2 of a node do for all its voxels, however many groups there are. Of the nodes,
   edges taken from the strongest down: V1 is the level at which a node's component first holds a
   point, V2 the level at which it first holds points of two groups. The one forest serves all groups.

2. *IRFC.* An edge (u, v) of level w is *optimal* for v where ``w >= L(v)`` and ``L(u) >= L(v)``. Let
   ``O(v)`` be the least solution of: a point has its own group; any other v has what its
   optimal neighbours have, "several" where these differ or one of them has it. Then v belongs to g
   by IRFC where ``O(v) = g``, and is disputed where O(v) is "several". Proof, from the highest
   level down. What g has by IRFC is reached by g in it with C_g, and blocks others: a
   path of another group to v at level L(v) that meets it at u could as well be g's, as
   ``C_g(u) >= L(v)``; so some group attains L(v) by a path whose last blocked voxel is its
   own. All voxels of level t = L(v) that hang together by edges of at least t share their fate: a
   group that reaches one of them reaches all, and it enters from a voxel of a higher level: from
   one that g has only g enters, from a disputed one at least two do, whichever they are. The
   equations are monotone in nobody < g < several, so any order of their evaluation ends in the
   same least solution. With RFC known, only its disputed voxels have to be looked at.

Both are integer arithmetic on the 65,536 levels of `GaussianAffinity`: CPU and CUDA give the same
bits. The tests compare them with the definitions, path by path and round by round.

The rule for ties
-----------------
By default disputed voxels are labelled 0. With ``ties="nearest"`` a disputed voxel goes to the
group whose voxels lie the fewest steps along optimal edges away; where two groups are equally near, it
stays 0. The number of steps is that of a breadth-first search, and of the nearest voxels all count, so
no order of evaluation changes the result; and each step leads from L(u) >= L(v) by w >= L(v),
so the group is one of those that attain L(v).

Data flow: `groups` (checked points) -> `owners_by_blocks` or `on_cuda` (V1, V2, owner) ->
`disputed` (IRFC and the rule for ties) -> `dividing`, the entry.

References
----------
J. K. Udupa, P. K. Saha, R. A. Lotufo: Relative fuzzy connectedness and object definition: theory,
algorithms, and applications in image segmentation. IEEE TPAMI 24 (2002), section 2.
K. C. Ciesielski, J. K. Udupa, P. K. Saha, Y. Zhuge: Iterative relative fuzzy connectedness for
multiple objects with multiple seeds. CVIU 107 (2007), sections 2 and 3.
K. C. Ciesielski, J. K. Udupa, A. X. Falcao, P. A. V. Miranda: Fuzzy connectedness image
segmentation in graph cut formulation. JMIV 44 (2012): IRFC by a maximum spanning forest.
"""

from .dividing import TIES, RelativeConnectedness, relative_connectedness

__all__ = ["TIES", "RelativeConnectedness", "relative_connectedness"]
