"""What is done with a tree in the scene: pruned, corrected, named, measured, divided.

`tree` is the one entry; it holds a model of centrelines. `steps` keeps the lines as they were found
and the steps since, `rewriting` puts other lines into all outputs of a run, `names` keeps names of
branches, `places` goes between the world and the model, `grid` between the model and voxels.
"""

from .tree import Tree

__all__ = ["Tree"]
