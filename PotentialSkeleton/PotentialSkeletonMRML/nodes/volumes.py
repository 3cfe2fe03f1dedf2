"""The skeleton's voxels and the force field as volume nodes."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.mrml.images import image_from_array
from FuzzyVesselCoreLib.mrml.reading import matrix_from_array


def field_image(solid: Any, field: Any) -> Any:
    """The force as vtkImageData with R, A, S components, float32.

    The force is a direction from voxel to voxel: it is turned and stretched as the voxels are, so
    that lines that follow it in space are those that follow it in the voxels.
    """
    to_ras = solid.ijk_to_ras[:3, :3]
    return image_from_array((field.vectors[..., ::-1] @ to_ras.T).astype(np.float32))


def fill_volume(node: Any, image: Any, solid: Any) -> None:
    """Fill a volume node on the object's own grid, under the same parent transform."""
    import slicer

    with slicer.util.NodeModify(node):
        node.SetAndObserveTransformNodeID(solid.transform_id)
        node.SetIJKToRASMatrix(matrix_from_array(solid.ijk_to_ras))
        node.SetAndObserveImageData(image)
        if node.IsA("vtkMRMLVectorVolumeNode"):
            node.SetVoxelVectorType(node.VoxelVectorTypeSpatial)
    if node.GetDisplayNode() is None:
        node.CreateDefaultDisplayNodes()
