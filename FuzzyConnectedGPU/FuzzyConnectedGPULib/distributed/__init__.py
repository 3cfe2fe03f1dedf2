"""Fuzzy connectedness of volumes that fit in no memory, exact, block by block.

Data flow: `block_connectedness` (entry) -> `partition` (blocks and groups of them) -> `steps` on
`tasks`: `blocks` (first pass) -> `face_graph` with `forest` (groups) -> `blocks` (second pass).
`stores` reads and writes boxes, `run_folder` keeps what steps have found, `output` makes the
target, `needs` estimates memory and space. `cuda` has the passes on a card, and the solver of a
volume that fits in memory but not on the card. `labelling` makes labels of the result. zarr and
Dask are optional. What is listed in ``__all__`` is public.

Method
------
The voxels are the vertices of a graph and adjacent voxels its edges, with the affinity's level as
capacity. Add one vertex, the source, with an edge of the highest level to every seed. The level of
a voxel is that of the widest path from the source. The volume is partitioned into boxes; the *face
voxels* F(B) of a box B are those with a neighbour outside B.

1. *Contraction.* For every block B: a maximum spanning forest on F(B) and the source, in which
   every two vertices have a path as wide as in the graph of B with its seeds.
2. *Merging.* A group of 2x2x2 boxes: the forests of its members and the edges between members,
   contracted to the group's own face voxels; and so on, until a group is the volume.
3. *Solving.* From the last group down: the levels of the members' face voxels, from the source and
   the levels of the group's face voxels, each of which has an edge of its level from the source.
4. *Finishing.* Every block once more: its voxels, from its own seeds and the levels of F(B).

Exactness
---------
*Contraction keeps the levels of all voxels outside B and on F(B).* For a level t, let G(t) be the
edges of level t and more. A voxel has level t or more exactly if G(t) connects it with the source.
A path in G(t) between vertices outside B or on F(B) is made of edges outside B, and of parts inside
B, which begin and end on F(B) or the source. Two of these vertices are connected inside B in G(t)
exactly if the forest's edges of level t and more connect them: Kruskal's algorithm meets the edges
from the strongest down, and where two components that each have such a vertex meet, it gives the
forest one edge of the same level. So each part can be replaced, in both directions. That all seeds
of B are one vertex changes nothing, because seeds have one level, and a path from the source that
meets it again has a shorter one that is as wide. By induction the same holds for groups.

*Finishing gives the final levels.* A widest path from the source to a voxel v of B either stays in
B after its seed, or enters B for the last time at a voxel f of F(B). In the second case its level
is at most the level of f, which is final, and that of a path inside B from f to v; the edge from
the source to f adds just such a path. It adds none that is too wide: there is a path to f of its
level.
The same argument with a group's graph in place of B proves step 3.

Only minima, maxima and comparisons of integers occur, so the result is equal bit for bit, whatever
the partition and the order of the steps.

Costs
-----
Each voxel is read twice and solved twice. A block of n voxels along each axis leaves at most 6 n^2
vertices and as many edges. The largest step joins 8 groups along three planes through the volume,
with the voxels on both sides of each: 6 N^2 vertices for N voxels along each axis.
"""

from .block_connectedness import BlockRun, connectedness
from .cuda.card_processes import CardProcesses
from .labelling import (
    ComponentTable,
    LabelOptions,
    LabelRun,
    Topology,
    labels,
    topology,
    volume_curve,
)
from .options import BlockOptions

__all__ = [
    "BlockOptions",
    "BlockRun",
    "CardProcesses",
    "ComponentTable",
    "LabelOptions",
    "LabelRun",
    "Topology",
    "connectedness",
    "labels",
    "topology",
    "volume_curve",
]
