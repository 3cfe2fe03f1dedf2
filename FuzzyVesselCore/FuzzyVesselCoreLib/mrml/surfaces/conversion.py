"""The closed surface of a segment as Slicer's own conversion makes it, in pieces for threads.

`surface_input` reads nodes and `polydata_of` makes what VTK shows: both in the window's thread.
What lies between them, `closed_surface`, touches no node.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...compilation import prepare_numba
from ...progress import Progress
from ..images import array_from_image
from ..reading import array_from_matrix
from ..segment_masks import BINARY_LABELMAP

SURFACE, SMOOTHING = "Closed surface", "SmoothingFactor"
# Conversion parameters whose surface is made here, but for the smoothing factor: Slicer's defaults.
# Of others (surface nets, fewer triangles, several segments smoothed as one) Slicer makes it.
DEFAULTS = {
    "DecimationFactor": 0.0,
    "ConversionMethod": 0.0,
    "ComputeSurfaceNormals": 1.0,
    "JointSmoothing": 0.0,
}


@dataclass(frozen=True)
class SurfaceInput:
    """All that the surface of a segment depends on, copied.

    Attributes
    ----------
    labels : ndarray, shape (K, J, I)
    label : int
    index_to_world : ndarray, shape (4, 4)
        From I, J, K of `labels` to X, Y, Z of the segmentation in mm.
    smoothing : float
    """

    labels: np.ndarray
    label: int
    index_to_world: np.ndarray
    smoothing: float

    def is_as(self, other: "SurfaceInput | None") -> bool:
        """Whether it is of the same voxels at the same place."""
        return (
            other is not None
            and (self.label, self.smoothing) == (other.label, other.smoothing)
            and np.array_equal(self.index_to_world, other.index_to_world)
            and np.array_equal(self.labels, other.labels)
        )

    def surface(self, progress: Progress | None = None) -> Any:
        """Compute the `Surface`, in any thread.

        Raises
        ------
        Cancelled
            The progress callback returned False.
        """
        from ...voxels.surface.closed_surface import closed_surface

        return closed_surface(
            self.labels, self.label, self.index_to_world, self.smoothing, progress
        )


def surface_input(segmentation: Any, segment_id: str) -> SurfaceInput | None:
    """Read a segment for its surface; None where only Slicer itself can make that.

    Parameters
    ----------
    segmentation : vtkSegmentation
    segment_id : str
    """
    import vtk

    segment = segmentation.GetSegment(segment_id)
    image = segment.GetRepresentation(BINARY_LABELMAP) if segment is not None else None
    if image is None or image.GetPointData().GetScalars() is None or not _compiles():
        return None
    smoothing = _parameter(segmentation, SMOOTHING)
    if any(_parameter(segmentation, name) != value for name, value in DEFAULTS.items()):
        return None
    matrix = vtk.vtkMatrix4x4()
    image.GetImageToWorldMatrix(matrix)
    geometry = array_from_matrix(matrix)
    geometry[:3, 3] += geometry[:3, :3] @ np.array(image.GetExtent()[::2], float)
    labels = array_from_image(image).copy()
    return SurfaceInput(labels, segment.GetLabelValue(), geometry, smoothing)


def has_surface(segment: Any) -> bool:
    """Whether a vtkSegment has a closed surface."""
    return segment.GetRepresentation(SURFACE) is not None


def convert_missing(segmentation: Any) -> None:
    """Make the surfaces that segments have not: Slicer shows those of all segments or of none.

    Parameters
    ----------
    segmentation : vtkSegmentation
    """
    for each in segmentation.GetSegmentIDs():
        if has_surface(segmentation.GetSegment(each)):
            continue
        read = surface_input(segmentation, each)
        if read is None:
            segmentation.CreateRepresentation(SURFACE)
            return
        set_surface(segmentation, each, polydata_of(read.surface()))


def set_surface(segmentation: Any, segment_id: str, surface: Any) -> None:
    """Give a segment a surface, in place of one that it has; observers are told as by Slicer."""
    segment = segmentation.GetSegment(segment_id)
    had = has_surface(segment)
    segment.AddRepresentation(SURFACE, surface)
    segmentation.InvokeEvent(segmentation.RepresentationModified, segment_id)
    if not had:
        segmentation.InvokeEvent(segmentation.ContainedRepresentationNamesModified)


@dataclass(frozen=True)
class SurfaceState:
    """What is another one as soon as a segment's surface would be.

    Attributes
    ----------
    image : vtkOrientedImageData
        Its voxels.
    time : int
        When they were changed last.
    settings : tuple of str
        Of the conversion, which the user sets in the module Segmentations.
    """

    image: Any
    time: int
    settings: tuple[str, ...]

    @classmethod
    def of(cls, segmentation: Any, segment_id: str) -> "SurfaceState | None":
        """The state of a segment now; None where it has no voxels."""
        segment = segmentation.GetSegment(segment_id)
        image = segment.GetRepresentation(BINARY_LABELMAP) if segment is not None else None
        if image is None:
            return None
        settings = [_setting(segmentation, name) for name in (SMOOTHING, *DEFAULTS)]
        return cls(image, image.GetMTime(), tuple(settings))

    def has_voxels_of(self, other: "SurfaceState") -> bool:
        """Whether only settings differ, if anything does."""
        return self.image is other.image and self.time == other.time


def polydata_of(surface: Any) -> Any:
    """A `Surface` as vtkPolyData."""
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray

    polydata = vtk.vtkPolyData()
    count = len(surface.triangles)
    if not count:
        return polydata
    points, polys = vtk.vtkPoints(), vtk.vtkCellArray()
    points.SetData(numpy_to_vtk(surface.points, deep=True))
    polys.SetData(
        numpy_to_vtkIdTypeArray(np.arange(0, 3 * count + 1, 3, dtype=np.int64), deep=True),
        numpy_to_vtkIdTypeArray(surface.triangles.reshape(-1), deep=True),
    )
    normals = numpy_to_vtk(surface.normals, deep=True)
    normals.SetName("Normals")
    polydata.SetPoints(points)
    polydata.SetPolys(polys)
    polydata.GetPointData().SetNormals(normals)
    return polydata


def _setting(segmentation: Any, name: str) -> str:
    """A parameter of Slicer's conversion, by the middle of its getter's name."""
    import slicer

    rule = slicer.vtkBinaryLabelmapToClosedSurfaceConversionRule
    return segmentation.GetConversionParameter(getattr(rule, f"Get{name}ParameterName")())


def _parameter(segmentation: Any, name: str) -> float:
    """The same as a number."""
    try:
        return float(_setting(segmentation, name))
    except ValueError:
        return float("nan")


def _compiles() -> bool:
    prepare_numba()
    try:
        import numba  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True
