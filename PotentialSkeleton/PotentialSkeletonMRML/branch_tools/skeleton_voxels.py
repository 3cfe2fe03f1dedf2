"""The labelmap of a skeleton's voxels after steps: what belongs to the branches that are left."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.geometry import transform_points
from FuzzyVesselCoreLib.mrml.images import image_from_array
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras
from PotentialSkeletonLib import CurveSkeleton
from PotentialSkeletonLib.branch_tools import dense_points

VOXELS = "SkeletonVoxels"  # field array of the lines as found: I, J, K
SAME = 0.25  # voxels: the step between a curve's samples; what is further away is not on it


def remember_voxels(lines: Any, labelmap: Any) -> None:
    """Keep the voxels of a labelmap with the lines as found (vtkPolyData)."""
    import slicer
    from vtk.util.numpy_support import numpy_to_vtk

    found = np.argwhere(slicer.util.arrayFromVolume(labelmap))[:, ::-1]
    array = numpy_to_vtk(np.ascontiguousarray(found, np.int32), deep=True)
    array.SetName(VOXELS)
    lines.GetFieldData().AddArray(array)


def image_after(
    found_lines: Any, found: CurveSkeleton, now: CurveSkeleton, labelmap: Any
) -> Any | None:
    """The labelmap's image for other lines; None where its voxels were not remembered.

    Parameters
    ----------
    found_lines : vtkPolyData
        As found, with `VOXELS`.
    found, now : CurveSkeleton
        S, A, R in mm below the labelmap's parent transform.
    labelmap : vtkMRMLLabelMapVolumeNode

    Returns
    -------
    vtkImageData or None
    """
    from scipy.spatial import cKDTree
    from vtk.util.numpy_support import vtk_to_numpy

    array = found_lines.GetFieldData().GetArray(VOXELS)
    if array is None:
        return None
    voxels = vtk_to_numpy(array).reshape(-1, 3)[:, ::-1]
    from_ras = np.linalg.inv(ijk_to_ras(labelmap))
    before, after = _samples(found, from_ras), _samples(now, from_ras)
    there, here = cKDTree(before), cKDTree(after)
    kept = voxels[here.query(voxels)[0] <= there.query(voxels)[0] + SAME]
    bridges = np.rint(after[there.query(after)[0] > SAME]).astype(int)
    shape = labelmap.GetImageData().GetDimensions()[::-1]
    labels = np.zeros(shape, np.uint8)
    for places in (kept, bridges[((bridges >= 0) & (bridges < shape)).all(axis=1)]):
        labels[tuple(places.T)] = 1
    return image_from_array(labels)


def _samples(skeleton, from_ras):
    """Points of all curves in voxels K, J, I."""
    lines = [
        dense_points(transform_points(from_ras, branch.points[:, ::-1])[:, ::-1])
        for branch in skeleton.branches
    ]
    return np.concatenate(lines)
