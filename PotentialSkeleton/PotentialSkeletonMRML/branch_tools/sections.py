"""Cross-sections of the branches, measured in the vessels and kept with the lines."""

from typing import Any

import numpy as np

from PotentialSkeletonLib.branch_tools import section_measures

from ..nodes.lines import SECTIONS
from ..stored_skeleton import skeleton_of
from .grid import on_voxels, vessels_of
from .rewriting import follow


def measure_sections(model: Any, progress: Any = None) -> None:
    """Add area and both kinds of diameter of each branch to the lines and to their table.

    Parameters
    ----------
    model : vtkMRMLModelNode
    progress : callable, optional
        ``progress(share) -> bool``; False cancels.

    Raises
    ------
    InputError
        If the vessels are not there any more, or are empty.
    Cancelled
    """
    import vtk

    solid = vessels_of(model)
    skeleton = on_voxels(model, skeleton_of(model), solid)
    found = section_measures(solid.mask, skeleton, progress=progress)
    cells = model.GetPolyData().GetCellData()
    for column, name in SECTIONS.items():
        array = vtk.vtkDoubleArray()
        array.SetName(name)
        for value in found[column]:
            array.InsertNextValue(np.nan if value is None else value)
        cells.AddArray(array)
    follow(model)
    model.GetPolyData().Modified()
