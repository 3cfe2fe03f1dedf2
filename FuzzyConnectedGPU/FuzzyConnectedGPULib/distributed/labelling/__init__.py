"""From a fuzzy scene that fits in no memory to labels, exact, block by block.

Data flow: `block_labels` (entry; what it is given, and keeps: `runs`) -> `label_phases` ->
`volume_curve` (a threshold, where none is given) -> `label_steps`: `object_blocks` (the object of a
block) -> `components` (its pieces are joined and numbered), whose numbers go from the last group
down to the voxels. `volume_curve` and `topology` count alone (`counting`).

Exactness
---------
*The object.* Whether a voxel reaches the threshold depends on it alone; a round of filling gaps
looks one voxel far, so a block with a margin of as many voxels as there are rounds has the volume's
object inside that margin.

*Its components.* A piece is a component of the object inside a block, or inside a group of blocks.
Two adjacent voxels of different boxes differ by one along an axis along which they are in different
boxes: both lie on inner faces of these. So the pieces of a group are those of its members, joined
where face voxels of two members are adjacent; and a piece that has no voxel on the group's own
inner faces is a component of the volume. By induction, pieces of the last group, which has no inner
faces, are the volume's components.

*Sizes, boxes, first voxels and seeds* of a piece are sums, minima, maxima and disjunctions of
integers over the pieces that it is made of, in any order. Components are numbered by their first
voxels in the order K, J, I, as on one machine.

*Topology.* Cavities are components of the background over faces; the Euler characteristic is a sum
over boxes that overlap by one layer of voxels, by inclusion and exclusion.

*The volume curve* is a sum of the blocks' histograms; the automatic threshold depends on it alone.

So every partition gives the labels of the whole, bit for bit.
"""

from .block_labels import LabelRun, labels
from .components.component_table import ComponentTable
from .runs.label_options import LabelOptions
from .topology import Topology, topology
from .volume_curve import volume_curve

__all__ = [
    "ComponentTable",
    "LabelOptions",
    "LabelRun",
    "Topology",
    "labels",
    "topology",
    "volume_curve",
]
