"""What 3D views show, as VTK actors: surfaces, spheres and tubes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkImageData, vtkPolyData
from vtkmodules.vtkCommonTransforms import vtkTransform
from vtkmodules.vtkFiltersCore import (
    vtkFlyingEdges3D,
    vtkPolyDataNormals,
    vtkReverseSense,
    vtkTubeFilter,
    vtkWindowedSincPolyDataFilter,
)
from vtkmodules.vtkFiltersGeneral import vtkTransformPolyDataFilter
from vtkmodules.vtkFiltersSources import vtkSphereSource
from vtkmodules.vtkRenderingCore import vtkActor, vtkGlyph3DMapper, vtkPolyDataMapper

SMOOTHING_ROUNDS, PASS_BAND = 20, 0.03
VESSEL, GLASS = (0.78, 0.20, 0.17), (0.66, 0.74, 0.84)
# Opacity of glass where one looks straight at the wall, and along it: the outline shows.
CLEAR, RIM = 0.10, 0.62
# Radius of a tube: this share of half the picture's height, but at most that of the vessel's.
TUBE, MIN_TUBE, OF_VESSEL, TUBE_SIDES = 0.0085, 0.0032, 0.55, 16


def vessel_surface(labels: np.ndarray, matrix: np.ndarray) -> Any:
    """Closed, smoothed surface (vtkPolyData, RAS in mm) of labels (K, J, I) by IJK to RAS."""
    padded = np.pad(labels, 1)
    image = vtkImageData()
    image.SetDimensions(padded.shape[::-1])
    image.SetOrigin(-1, -1, -1)
    image.GetPointData().SetScalars(numpy_to_vtk(padded.ravel(), deep=True))
    edges = vtkFlyingEdges3D()
    edges.SetInputData(image)
    edges.SetValue(0, 0.5)
    edges.ComputeNormalsOff()
    edges.ComputeScalarsOff()
    smooth = vtkWindowedSincPolyDataFilter()
    smooth.SetInputConnection(edges.GetOutputPort())
    smooth.SetNumberOfIterations(SMOOTHING_ROUNDS)
    smooth.SetPassBand(PASS_BAND)
    smooth.NonManifoldSmoothingOn()
    smooth.NormalizeCoordinatesOn()
    smooth.BoundarySmoothingOff()
    transform = vtkTransform()
    transform.SetMatrix(matrix.ravel())
    place = vtkTransformPolyDataFilter()
    place.SetTransform(transform)
    place.SetInputConnection(smooth.GetOutputPort())
    last: Any = place
    if np.linalg.det(matrix[:3, :3]) < 0:  # a left-handed grid turns the surface inside out
        last = vtkReverseSense()
        last.SetInputConnection(place.GetOutputPort())
        last.ReverseCellsOn()
    normals = vtkPolyDataNormals()
    normals.SetInputConnection(last.GetOutputPort())
    normals.SplittingOff()
    normals.ConsistencyOff()
    normals.Update()
    return normals.GetOutput()


def opaque(surface: Any, colour: tuple[float, float, float]) -> Any:
    """An actor of the surface of vessels."""
    actor = _actor(_mapper(surface), colour, ambient=0.06, specular=0.30)
    actor.GetProperty().SetSpecularPower(25)
    return actor


def translucent(surface: Any) -> Any:
    """An actor that is clear where one looks straight through, denser towards the outline."""
    actor = _actor(_mapper(surface), GLASS, ambient=0.25, specular=0.25)
    actor.ForceTranslucentOn()
    actor.GetProperty().SetSpecularPower(30)
    actor.GetProperty().SetOpacity(0.99)
    actor.GetShaderProperty().AddFragmentShaderReplacement(
        "//VTK::Light::Impl",
        True,
        "  float facing = abs(normalVCVSOutput.z);\n"
        f"  opacity = mix({RIM}, {CLEAR}, smoothstep(0.0, 0.9, facing));\n"
        "//VTK::Light::Impl\n",
        False,
    )
    return actor


def spheres(points: np.ndarray, radius: float, colour: tuple[float, float, float]) -> Any:
    """An actor of spheres at points (n, 3; RAS)."""
    cloud = vtkPolyData()
    cloud.SetPoints(_points(points))
    sphere = vtkSphereSource()
    sphere.SetRadius(radius)
    sphere.SetThetaResolution(32)
    sphere.SetPhiResolution(32)
    mapper = vtkGlyph3DMapper()
    mapper.SetInputData(cloud)
    mapper.SetSourceConnection(sphere.GetOutputPort())
    return _actor(mapper, colour, ambient=0.35)


def tubes(arrays: Mapping[str, np.ndarray], half: float) -> Any:
    """An actor of tubes along curves; its mapper has a set of colours for each view.

    Parameters
    ----------
    arrays : mapping
        "points" (n, 3), "counts" (points of each curve), "radius" (n), "colours" (views, n, 3).
    half : float
        Half the picture's height in mm.
    """
    ends = np.concatenate([[0], np.cumsum(arrays["counts"])])
    lines = vtkCellArray()
    connectivity = np.arange(ends[-1])
    lines.SetData(numpy_to_vtk(ends.astype(np.int64), deep=True),
                  numpy_to_vtk(connectivity.astype(np.int64), deep=True))  # fmt: skip
    curves = vtkPolyData()
    curves.SetPoints(_points(arrays["points"]))
    curves.SetLines(lines)
    thickness = np.clip(OF_VESSEL * arrays["radius"], MIN_TUBE * half, TUBE * half)
    values = {f"colours {number}": each for number, each in enumerate(arrays["colours"])}
    for name, each in {"thickness": thickness, **values}.items():
        array = numpy_to_vtk(np.ascontiguousarray(each), deep=True)
        array.SetName(name)
        curves.GetPointData().AddArray(array)
    curves.GetPointData().SetActiveScalars("thickness")
    tube = vtkTubeFilter()
    tube.SetInputData(curves)
    tube.SetVaryRadiusToVaryRadiusByAbsoluteScalar()
    tube.SetNumberOfSides(TUBE_SIDES)
    tube.CappingOn()
    mapper = vtkPolyDataMapper()
    mapper.SetInputConnection(tube.GetOutputPort())
    mapper.SetScalarModeToUsePointFieldData()
    mapper.SetColorModeToDirectScalars()
    return _actor(mapper, (1.0, 1.0, 1.0), ambient=0.32, diffuse=0.78, specular=0.15)


def _points(points):
    made = vtkPoints()
    made.SetData(numpy_to_vtk(np.ascontiguousarray(points, np.float32), deep=True))
    return made


def _mapper(surface):
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(surface)
    mapper.ScalarVisibilityOff()
    return mapper


def _actor(mapper, colour, ambient, diffuse=1.0, specular=0.0):
    actor = vtkActor()
    actor.SetMapper(mapper)
    look = actor.GetProperty()
    look.SetColor(colour)
    look.SetAmbient(ambient)
    look.SetDiffuse(diffuse)
    look.SetSpecular(specular)
    return actor
