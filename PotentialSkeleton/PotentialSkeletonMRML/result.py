"""What a skeleton on the MRML scene gives back."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class SkeletonResult:
    """Nodes and figures of one run; what was not asked for is None or empty.

    Attributes
    ----------
    skeleton : PotentialSkeletonLib.CurveSkeleton
        In voxels of the input; its `report` says how it was made and what was checked.
    ijkToRAS : ndarray, shape (4, 4)
        From I, J, K of `skeleton` to the frame below the input's parent transform, for example for
        ``skeleton.to_swc(path, voxel_to_world=result.ijkToRAS)``.
    curveNodes : list of vtkMRMLMarkupsCurveNode
        In the order of the skeleton's branches.
    folderItemID : int
        Their folder in the subject hierarchy; 0 where there is none.
    modelNode : vtkMRMLModelNode
        Lines; arrays Radius (points), BranchId, Generation, Length, MeanRadius, ComponentId,
        StartNode, EndNode (cells).
    tubesNode : vtkMRMLModelNode
        The surface of tubes, with the same arrays.
    labelmapNode : vtkMRMLLabelMapVolumeNode
        1 in the skeleton's voxels.
    tableNode : vtkMRMLTableNode
        One row a branch; see `CurveSkeleton.to_table`.
    criticalPointsNodes : dict of str to vtkMRMLMarkupsFiducialNode
        Kind to list of points.
    plotChartNodes : list of vtkMRMLPlotChartNode
        Radius along the longest branch; millimetres of centreline for each radius.
    fieldNode : vtkMRMLVectorVolumeNode
        The force, in R, A, S components of the frame below the parent transform.
    warnings : list of str
        What the user should know: what was cleaned, what could not be checked, ...
    """

    skeleton: Any
    ijkToRAS: object
    curveNodes: list = field(default_factory=list)
    folderItemID: int = 0
    modelNode: object = None
    tubesNode: object = None
    labelmapNode: object = None
    tableNode: object = None
    criticalPointsNodes: dict = field(default_factory=dict)
    plotChartNodes: list = field(default_factory=list)
    fieldNode: object = None
    warnings: list = field(default_factory=list)
