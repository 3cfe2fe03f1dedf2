"""Surfaces of segments for the 3D views, as Slicer's own conversion makes them.

`surface_input` reads a segment in the window's thread; `SurfaceInput.surface` runs in any thread,
where VTK's filters let the window go on. Slicer shows surfaces of all segments or of none, and
makes missing ones itself: a segment that no run wrote gets none because of a result.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import Cancelled
from .reading import BINARY_LABELMAP, array_from_image, image_from_array, image_to_world, is_result

SURFACE = "Closed surface"
# Conversion parameters whose surface is made here: Slicer's defaults, and any smoothing factor.
DEFAULTS = {
    "DecimationFactor": 0.0,
    "ConversionMethod": 0.0,
    "ComputeSurfaceNormals": 1.0,
    "JointSmoothing": 0.0,
}


@dataclass(frozen=True)
class SurfaceInput:
    """All that the surface of a segment depends on, copied.

    `index_to_world` leads from I, J, K of `inside` (K, J, I; bool) to the segmentation's frame in
    mm; `smoothing` is Slicer's factor, 0 to 1, `state` differs once the segment was edited.
    """

    inside: np.ndarray
    index_to_world: np.ndarray
    smoothing: float
    state: tuple = ()

    def surface(self, progress: Any = None) -> Any:
        """The closed surface as vtkPolyData; `Cancelled` where ``progress(share)`` says so."""
        import vtk

        contour = vtk.vtkDiscreteFlyingEdges3D(
            compute_gradients=False, compute_normals=False, compute_scalars=False
        )
        contour.SetInputData(image_from_array(np.pad(self.inside.astype(np.uint8), 1), copy=False))
        contour.SetValue(0, 1)
        smooth = vtk.vtkWindowedSincPolyDataFilter(
            number_of_iterations=int(20 + self.smoothing * 40),
            pass_band=10 ** (-4 * self.smoothing),
            boundary_smoothing=False,
            non_manifold_smoothing=True,
            normalize_coordinates=True,
        )
        place = vtk.vtkTransform()
        origin = self.index_to_world.copy()
        origin[:3, 3] -= origin[:3, :3].sum(axis=1)  # of the padding
        place.SetMatrix(origin.ravel())
        moved = vtk.vtkTransformPolyDataFilter(transform=place)
        # A mirroring matrix turns triangles inside out.
        mirrored = bool(np.linalg.det(origin[:3, :3]) < 0)
        normals = vtk.vtkPolyDataNormals(splitting=False, flip_normals=mirrored)
        filters = [contour, *[smooth] * (self.smoothing > 0), moved, normals]
        for number, each in enumerate(filters):
            if number:
                each.SetInputConnection(filters[number - 1].GetOutputPort())
            if progress is not None and progress(number / len(filters)) is False:
                raise Cancelled
            each.Update()
        return normals.GetOutput()

    def put(self, segmentation: Any, segment_id: str, surface: Any) -> bool:
        """Give the segment its surface, unless its voxels or the settings have changed since."""
        if _state(segmentation, segment_id) != self.state:
            return False
        _set_surface(segmentation, segment_id, surface)
        return True


def surface_input(segmentation: Any, segment_id: str) -> SurfaceInput | None:
    """Read a segment of a vtkSegmentation; None where only Slicer itself can make its surface."""
    segment = segmentation.GetSegment(segment_id)
    image = segment.GetRepresentation(BINARY_LABELMAP) if segment is not None else None
    if image is None or image.GetPointData().GetScalars() is None:
        return None
    smoothing, *others = _settings(segmentation)
    if any(found not in ("", value) for found, value in zip(others, DEFAULTS.values())):
        return None
    inside = array_from_image(image) == segment.GetLabelValue()
    smoothing = 0.5 if smoothing == "" else smoothing
    state = _state(segmentation, segment_id)
    return SurfaceInput(inside, image_to_world(image), smoothing, state)


def _state(segmentation: Any, segment_id: str) -> tuple:
    """State that determines a segment's surface; empty where the segment has no voxels."""
    segment = segmentation.GetSegment(segment_id)
    image = segment.GetRepresentation(BINARY_LABELMAP) if segment is not None else None
    return () if image is None else (image, image.GetMTime(), _settings(segmentation))


def _settings(segmentation: Any) -> tuple:
    """Smoothing factor, and the parameters of `DEFAULTS`: numbers, or an empty text."""
    import slicer

    rule, found = slicer.vtkBinaryLabelmapToClosedSurfaceConversionRule, []
    for name in ("SmoothingFactor", *DEFAULTS):
        text = segmentation.GetConversionParameter(getattr(rule, f"Get{name}ParameterName")())
        found.append(float(text) if text else text)
    return tuple(found)


def has_surface(segment: Any) -> bool:
    """Whether a vtkSegment has a closed surface."""
    return segment.GetRepresentation(SURFACE) is not None


def _set_surface(segmentation: Any, segment_id: str, surface: Any) -> None:
    """Give a segment a surface, in place of one that it has; observers are told as by Slicer."""
    segment = segmentation.GetSegment(segment_id)
    had = has_surface(segment)
    segment.AddRepresentation(SURFACE, surface)
    segmentation.InvokeEvent(segmentation.RepresentationModified, segment_id)
    if not had:
        segmentation.InvokeEvent(segmentation.ContainedRepresentationNamesModified)


def without_surface(segmentation_node: Any, segment_id: str) -> list[str]:
    """Names of segments that prevent a surface of one: no run wrote them, and they have none."""
    return [
        segment.GetName()
        for segment in _others(segmentation_node, segment_id)
        if not has_surface(segment) and not is_result(segment)
    ]


def may_have_surface(segmentation_node: Any, segment_id: str) -> bool:
    """Whether a surface of the segment may be made and put: see `without_surface`."""
    segmentation = segmentation_node.GetSegmentation()
    return (
        segmentation.GetSegment(segment_id) is not None
        and segmentation.GetSourceRepresentationName() == BINARY_LABELMAP
        and not without_surface(segmentation_node, segment_id)
    )


def make_surface(segmentation_node: Any, segment_id: str) -> None:
    """Make the surface of a segment where `may_have_surface`, also where it has one."""
    if may_have_surface(segmentation_node, segment_id):
        segmentation = segmentation_node.GetSegmentation()
        segmentation.GetSegment(segment_id).RemoveRepresentation(SURFACE)
        segmentation.CreateRepresentation(SURFACE)  # where it is missing


def put_surface(segmentation_node: Any, segment_id: str, surface: Any) -> None:
    """Show a surface of earlier voxels until that of the present ones is made."""
    segment = segmentation_node.GetSegmentation().GetSegment(segment_id)
    if surface is None or segment is None or has_surface(segment):
        return
    if not without_surface(segmentation_node, segment_id):
        _set_surface(segmentation_node.GetSegmentation(), segment_id, surface)


def drop_surface(segmentation_node: Any, segment_id: str) -> None:
    """Show a segment in 3D no more: without its surface, or hidden where others have one, too."""
    segmentation = segmentation_node.GetSegmentation()
    segment = segmentation.GetSegment(segment_id)
    if segment is None or segmentation.GetSourceRepresentationName() != BINARY_LABELMAP:
        return
    if any(has_surface(each) for each in _others(segmentation_node, segment_id)):
        segmentation_node.GetDisplayNode().SetSegmentVisibility3D(segment_id, False)
    elif has_surface(segment):
        segmentation_node.RemoveClosedSurfaceRepresentation()


def _others(segmentation_node: Any, segment_id: str) -> list[Any]:
    segmentation = segmentation_node.GetSegmentation()
    ids = segmentation.GetSegmentIDs()
    return [segmentation.GetSegment(each) for each in ids if each != segment_id]
