"""Fuzzy connectedness of volumes larger than memory, exact, block by block, on Dask.

Method: the voxels are a graph whose edges are the affinities' levels, with one more vertex, the
source, that has an edge of the highest level to every seed. The level of a voxel is that of the
widest path from the source.

1. *Forests* (`forests`). For every block: a maximum spanning forest on its *face voxels* (those
   with a neighbour in another block) and the source, in which every two have a path as wide as in
   the block.
2. *Joining.* All forests and the edges between blocks are one graph; widest paths in it give the
   levels of all face voxels.
3. *Finishing.* Every block once more by the exact solver, on any device, with its face voxels as
   seeds of their levels.

Only integers are compared, so every partition gives the same bits (proof:
`Documentation/decisions/0004-blocks.md`). Each voxel is read twice. Joining holds about 40 bytes
for each face voxel: 5 GB for 1e10 voxels in blocks of 512.
"""

from .connectedness import BlockOptions, BlockRun, CardProcesses, connectedness
from .labels import ComponentTable, LabelOptions, LabelRun, labels

__all__ = [
    "BlockOptions", "BlockRun", "CardProcesses", "ComponentTable", "LabelOptions", "LabelRun",
    "connectedness", "labels",
]  # fmt: skip
