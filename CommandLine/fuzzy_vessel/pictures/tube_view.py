"""Centrelines as tubes inside the translucent vessels, in 3D, rendered by a child process."""

import json
from pathlib import Path

import numpy as np

from . import offscreen
from .surface_view import framed, reduced, sides, spheres, vessel_surface

GLASS = (0.66, 0.74, 0.84)
# Opacity where one looks straight at the wall, and along it: the vessels' outline shows.
CLEAR, RIM = 0.10, 0.62
# Radius of a tube: this share of half the picture's height, but at most that of the vessel's.
TUBE, LEAST_TUBE, OF_VESSEL = 0.0085, 0.0032, 0.55
SIDES = 16
MARGIN = 1.10  # the panel's name stands above the vessels
# Translucent walls behind each other: more than these are hardly seen.
PEELS = 5
JOINT, JOINT_SIZE = (0.97, 0.97, 0.95), 0.0088


def draw_tubes(subject, curves, size, folder, background):
    """Draw curves within a subject's vessels, from the two sides that show most.

    From the first in the colours of the radii, from the second in those of the branches.

    Parameters
    ----------
    subject : Subject
    curves : Curves
    size : int
        Width and height of each image in pixels.
    folder : Path
        For files between this process and its child.
    background : tuple of 3 float
        Colour, 0..1.

    Returns
    -------
    list of (image, view)
        See `surface_view.draw_surface`.

    Raises
    ------
    CannotRender
    """
    from PIL import Image

    labels, matrix = reduced(subject)
    seen = _extremes(curves)
    views = [framed(side, seen, MARGIN) for side in sides(matrix, labels.shape)[:2]]
    folder = Path(folder)
    np.savez(
        folder / "tubes.npz",
        labels=labels,
        matrix=matrix,
        points=np.concatenate(curves.points),
        counts=[len(points) for points in curves.points],
        radius=np.concatenate(curves.radius),
        colours=[np.concatenate(each) for each in (curves.colours, curves.branch_colours)],
        joints=curves.joints,
    )
    task = {"size": size, "background": background, "views": views}
    (folder / "tubes.json").write_text(json.dumps(task))
    names = [f"tubes-{number}.png" for number in range(len(views))]
    offscreen.run_child("tube_view", folder, names[-1])
    drawn = []
    for name, view in zip(names, views):
        with Image.open(folder / name) as image:
            image.load()
        drawn.append((image, view))
    return drawn


def _extremes(curves):
    """Points (RAS) round the curves, as far off as the vessels' walls."""
    points, radius = np.concatenate(curves.points), np.concatenate(curves.radius)
    steps = np.concatenate([np.eye(3), -np.eye(3)])
    return (points[:, np.newaxis] + 1.4 * radius[:, np.newaxis, np.newaxis] * steps).reshape(-1, 3)


def render(folder):
    """What the child process does: tubes.npz and tubes.json become tubes-0.png, tubes-1.png."""
    import vtk

    folder = Path(folder)
    task = json.loads((folder / "tubes.json").read_text())
    arrays = np.load(folder / "tubes.npz")
    half = max(view["half_height_mm"] for view in task["views"])
    renderer = vtk.vtkRenderer()
    renderer.SetBackground(task["background"])
    renderer.AddActor(_glass(vessel_surface(arrays["labels"], arrays["matrix"])))
    tubes = _tubes(arrays, half)
    renderer.AddActor(tubes)
    if len(arrays["joints"]):
        renderer.AddActor(spheres(arrays["joints"], JOINT_SIZE * half, JOINT))
    renderer.SetUseDepthPeeling(1)
    renderer.SetMaximumNumberOfPeels(PEELS)
    renderer.SetOcclusionRatio(0.0)
    offscreen.add_lights(renderer)
    window = offscreen.window(task["size"])
    window.AddRenderer(renderer)
    for number, view in enumerate(task["views"]):
        tubes.GetMapper().SelectColorArray(f"colours {number}")
        renderer.SetActiveCamera(offscreen.camera(view))
        offscreen.save(window, task["size"], folder / f"tubes-{number}.png")


def _glass(surface):
    """Clear where one looks straight through, denser towards the outline."""
    import vtk

    mapper = vtk.vtkPolyDataMapper()
    mapper.SetInputData(surface)
    mapper.ScalarVisibilityOff()
    actor = vtk.vtkActor()
    actor.SetMapper(mapper)
    actor.ForceTranslucentOn()
    glass = actor.GetProperty()
    glass.SetColor(GLASS)
    glass.SetAmbient(0.25)
    glass.SetSpecular(0.25)
    glass.SetSpecularPower(30)
    glass.SetOpacity(0.99)
    actor.GetShaderProperty().AddFragmentShaderReplacement(
        "//VTK::Light::Impl",
        True,
        "  float facing = abs(normalVCVSOutput.z);\n"
        f"  opacity = mix({RIM}, {CLEAR}, smoothstep(0.0, 0.9, facing));\n"
        "//VTK::Light::Impl\n",
        False,
    )
    return actor


def _tubes(arrays, half):
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk

    points = vtk.vtkPoints()
    points.SetData(numpy_to_vtk(np.ascontiguousarray(arrays["points"], np.float32), deep=True))
    lines, first = vtk.vtkCellArray(), 0
    for count in arrays["counts"]:
        lines.InsertNextCell(int(count))
        for index in range(first, first + int(count)):
            lines.InsertCellPoint(index)
        first += int(count)
    curves = vtk.vtkPolyData()
    curves.SetPoints(points)
    curves.SetLines(lines)
    thickness = np.clip(OF_VESSEL * arrays["radius"], LEAST_TUBE * half, TUBE * half)
    values = {"thickness": thickness}
    values |= {f"colours {number}": each for number, each in enumerate(arrays["colours"])}
    for name, each in values.items():
        array = numpy_to_vtk(np.ascontiguousarray(each), deep=True)
        array.SetName(name)
        curves.GetPointData().AddArray(array)
    curves.GetPointData().SetActiveScalars("thickness")
    tubes = vtk.vtkTubeFilter()
    tubes.SetInputData(curves)
    tubes.SetVaryRadiusToVaryRadiusByAbsoluteScalar()
    tubes.SetNumberOfSides(SIDES)
    tubes.CappingOn()
    mapper = vtk.vtkPolyDataMapper()
    mapper.SetInputConnection(tubes.GetOutputPort())
    mapper.SetScalarModeToUsePointFieldData()
    mapper.SetColorModeToDirectScalars()
    return _solid(mapper)


def _solid(mapper):
    import vtk

    actor = vtk.vtkActor()
    actor.SetMapper(mapper)
    actor.GetProperty().SetAmbient(0.32)
    actor.GetProperty().SetDiffuse(0.78)
    actor.GetProperty().SetSpecular(0.15)
    return actor
