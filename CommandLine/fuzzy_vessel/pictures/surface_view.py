"""The vessels' surface and the seeds in 3D, from the side that shows most."""

import json
from pathlib import Path

import numpy as np

from . import offscreen
from .offscreen import CannotRender

__all__ = ["CannotRender", "draw_surface", "framed", "reduced", "sides", "vessel_surface"]

VESSEL = (0.78, 0.20, 0.17)
SEED = (1.0, 0.82, 0.40)
BACKGROUND_SEED = (0.30, 0.79, 0.94)
# Beyond so many voxels of vessels, or in their box, every second voxel along each axis has to do.
MOST_VOXELS, MOST_IN_BOX = 1_500_000, 100_000_000
# Name, direction to the eye and upwards (RAS); the extents that one sees (indices into R, A, S).
VIEWS = (
    ("from the front", (-0.30, 0.92, 0.24), (0, 0, 1), (0, 2)),
    ("from the left", (-0.92, 0.30, 0.24), (0, 0, 1), (1, 2)),
    ("from below", (-0.20, 0.24, -0.95), (0, 1, 0), (0, 1)),
)
# The front is what one knows best: it is taken unless another side shows this much more.
FRONT_BONUS = 1.6


def draw_surface(subject, size, folder, background):
    """Draw the surface of a subject's vessels.

    Parameters
    ----------
    subject : Subject
    size : int
        Width and height in pixels.
    folder : Path
        For files between this process and its child.
    background : tuple of 3 float
        Colour, 0..1.

    Returns
    -------
    image : PIL.Image.Image
    view : dict
        "name"; "right", "up": unit vectors (RAS) across and up the image; "mm_per_pixel".

    Raises
    ------
    CannotRender
    """
    from PIL import Image

    labels, matrix = reduced(subject)
    view = framed(sides(matrix, labels.shape)[0], _corners(matrix, labels.shape))
    folder = Path(folder)
    np.savez(
        folder / "surface.npz",
        labels=labels,
        matrix=matrix,
        seeds=_to_ras(subject, subject.seeds),
        background_seeds=_to_ras(subject, subject.background_seeds),
    )
    task = {"size": size, "background": background, **view}
    (folder / "surface.json").write_text(json.dumps(task))
    offscreen.run_child("surface_view", folder, "surface.png")
    with Image.open(folder / "surface.png") as image:
        image.load()
    return image, view


def reduced(subject):
    """The box of a subject's vessels and seeds, coarser where it is huge, and its IJK to RAS."""
    from ..subject import box

    low, high = box(subject.labels, subject.seeds)
    within = tuple(slice(a, b + 1) for a, b in zip(low, high))
    labels = subject.labels[within]
    many = labels.size > MOST_IN_BOX or np.count_nonzero(labels) > MOST_VOXELS
    step = 2 if many else 1
    matrix = np.array(subject.ijk_to_ras, float)
    matrix[:3, 3] += matrix[:3, :3] @ low[::-1]
    matrix[:3, :3] *= step
    return labels[::step, ::step, ::step], matrix


def _to_ras(subject, points):
    points = np.reshape(points, (-1, 3)).astype(float)
    return points[:, ::-1] @ subject.ijk_to_ras[:3, :3].T + subject.ijk_to_ras[:3, 3]


def _corners(matrix, shape):
    last = np.array(shape[::-1]) - 1.0
    corners = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)]) * last
    return corners @ matrix[:3, :3].T + matrix[:3, 3]


def sides(matrix, shape):
    """The `VIEWS` of a box of voxels (IJK to RAS, shape K, J, I), the one that shows most first."""
    extent = np.ptp(_corners(matrix, shape), axis=0)

    def seen(view):
        first, second = view[3]
        return extent[first] * extent[second] * (FRONT_BONUS if view is VIEWS[0] else 1)

    return sorted(VIEWS, key=seen, reverse=True)


def framed(side, points, margin=1.04):
    """One of the `VIEWS` with a square frame that holds all points (n, 3; RAS)."""
    name, eye, up, _ = side
    eye = np.array(eye) / np.linalg.norm(eye)
    right = np.cross(up, eye)
    right /= np.linalg.norm(right)
    up = np.cross(eye, right)
    axes = np.array([right, up, eye])
    placed = points @ axes.T
    centre = (placed.min(axis=0) + placed.max(axis=0)) / 2
    half = np.ptp(placed[:, :2], axis=0).max() / 2 * margin + 2.0
    return {
        "name": name,
        "eye": eye.tolist(),
        "right": right.tolist(),
        "up": up.tolist(),
        "centre": (centre @ axes).tolist(),
        "half_height_mm": float(half),
    }


def vessel_surface(labels, matrix):
    """Closed, smoothed surface of the labels, in millimetres (RAS)."""
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk

    padded = np.pad(labels, 1)
    image = vtk.vtkImageData()
    image.SetDimensions(padded.shape[::-1])
    image.SetOrigin(-1, -1, -1)
    image.GetPointData().SetScalars(numpy_to_vtk(padded.ravel(), deep=True))
    edges = vtk.vtkFlyingEdges3D()
    edges.SetInputData(image)
    edges.SetValue(0, 0.5)
    edges.ComputeNormalsOff()
    edges.ComputeScalarsOff()
    smooth = vtk.vtkWindowedSincPolyDataFilter()
    smooth.SetInputConnection(edges.GetOutputPort())
    smooth.SetNumberOfIterations(20)
    smooth.SetPassBand(0.03)
    smooth.NonManifoldSmoothingOn()
    smooth.NormalizeCoordinatesOn()
    smooth.BoundarySmoothingOff()
    transform = vtk.vtkTransform()
    transform.SetMatrix(matrix.ravel())
    place = vtk.vtkTransformPolyDataFilter()
    place.SetTransform(transform)
    place.SetInputConnection(smooth.GetOutputPort())
    last = place
    if np.linalg.det(matrix[:3, :3]) < 0:  # a left-handed grid turns the surface inside out
        last = vtk.vtkReverseSense()
        last.SetInputConnection(place.GetOutputPort())
        last.ReverseCellsOn()
    normals = vtk.vtkPolyDataNormals()
    normals.SetInputConnection(last.GetOutputPort())
    normals.SplittingOff()
    normals.ConsistencyOff()
    normals.Update()
    return normals.GetOutput()


def spheres(points, radius, colour):
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk

    centres = vtk.vtkPoints()
    centres.SetData(numpy_to_vtk(np.ascontiguousarray(points, np.float32), deep=True))
    cloud = vtk.vtkPolyData()
    cloud.SetPoints(centres)
    sphere = vtk.vtkSphereSource()
    sphere.SetRadius(radius)
    sphere.SetThetaResolution(32)
    sphere.SetPhiResolution(32)
    mapper = vtk.vtkGlyph3DMapper()
    mapper.SetInputData(cloud)
    mapper.SetSourceConnection(sphere.GetOutputPort())
    actor = vtk.vtkActor()
    actor.SetMapper(mapper)
    actor.GetProperty().SetColor(colour)
    actor.GetProperty().SetAmbient(0.35)
    return actor


def _window(task, actor, markers):
    """A window with the surface, and the seeds in a layer before it, so that none is hidden."""
    import vtk

    window = offscreen.window(task["size"])
    window.SetNumberOfLayers(2)
    camera = offscreen.camera(task)
    for layer, actors in enumerate(([actor], markers)):
        renderer = vtk.vtkRenderer()
        renderer.SetLayer(layer)
        renderer.SetBackground(task["background"])
        renderer.SetActiveCamera(camera)
        for each in actors:
            renderer.AddActor(each)
        offscreen.add_lights(renderer)
        window.AddRenderer(renderer)
        if layer == 0:
            _shade_hollows(renderer, task["half_height_mm"])
    return window


def _shade_hollows(renderer, half):
    """Darken where vessels lie close together, which tells near from far."""
    import vtk

    hollows = vtk.vtkSSAOPass()
    hollows.SetRadius(0.16 * half)
    hollows.SetBias(0.006 * half)
    hollows.SetKernelSize(40)
    hollows.BlurOn()
    hollows.SetDelegatePass(vtk.vtkRenderStepsPass())
    renderer.SetPass(hollows)


def render(folder):
    """What the child process does: surface.npz and surface.json become surface.png."""
    import vtk

    folder = Path(folder)
    task = json.loads((folder / "surface.json").read_text())
    arrays = np.load(folder / "surface.npz")
    mapper = vtk.vtkPolyDataMapper()
    mapper.SetInputData(vessel_surface(arrays["labels"], arrays["matrix"]))
    mapper.ScalarVisibilityOff()
    actor = vtk.vtkActor()
    actor.SetMapper(mapper)
    surface = actor.GetProperty()
    surface.SetColor(VESSEL)
    surface.SetAmbient(0.06)
    surface.SetSpecular(0.30)
    surface.SetSpecularPower(25)
    radius = task["half_height_mm"] * 0.016
    markers = [
        spheres(arrays[name], radius, colour)
        for name, colour in (("seeds", SEED), ("background_seeds", BACKGROUND_SEED))
        if len(arrays[name])
    ]
    offscreen.save(_window(task, actor, markers), task["size"], folder / "surface.png")
