"""Vessels in 3D by VTK, off screen, in a process of its own.

Where a machine lacks EGL or a driver for it, VTK ends the process that renders; so this file is
also the program of that process, which reads ``task.json`` and ``arrays.npz`` of a folder.
"""

import json
import os
import subprocess  # noqa: TID251
import sys
import tempfile
from pathlib import Path

import numpy as np

TIMEOUT_S = 300
SMOOTHING = 0.2  # of surfaces, Slicer's factor: with more of it thin vessels get too thin
FINER = 2  # rendered at this multiple of the size, then averaged: smooth edges
GLASS, NODE, SEED, BACKGROUND_SEED = (
    (0.66, 0.74, 0.84), (0.97, 0.97, 0.95), (1.0, 0.82, 0.40), (0.30, 0.79, 0.94),
)  # fmt: skip
# Of glass: clear where one looks straight at the wall, denser towards the outline.
SHADER = """  float facing = abs(normalVCVSOutput.z);
  opacity = mix(0.62, 0.10, smoothstep(0.0, 0.9, facing));
//VTK::Light::Impl
"""
# Shares of half the picture's height: radii of spheres; largest and smallest radius of a tube,
# which is at most this share of the vessel's.
SEED_RADIUS, NODE_RADIUS, TUBE, MIN_TUBE, OF_VESSEL = 0.016, 0.0088, 0.0085, 0.0032, 0.55
NO_SCREEN = "the 3D view is left out of the picture: this machine cannot render off screen"
if sys.platform.startswith("linux"):
    NO_SCREEN += " (Debian: apt-get install libegl1 libgl1 libgl1-mesa-dri)"


class CannotRender(Exception):
    """This machine cannot draw in 3D; the message says what to install."""


def render(
    arrays: dict[str, np.ndarray], views: list[dict], size: int, background: str
) -> list[np.ndarray]:
    """Let a child process render vessels; returns pixels of each view, uint8 (size, size, 3).

    `arrays` are the "labels" (K, J, I) and their "matrix" from I, J, K to RAS; for an opaque
    surface "colours" (n, 3; 0..1) of the labels 1 to n, and points (n, 3; RAS) "seeds" and
    "background_seeds"; for tubes in a translucent one "points" (n, 3; RAS), "counts" (points of
    each curve), "radius" (n), "colours" (views, n, 3; uint8) and "nodes" (m, 3; RAS). `views` are
    from `framed`; the background is a colour "#rrggbb". Raises `CannotRender`.
    """
    linux = sys.platform.startswith("linux")
    changes = {"VTK_DEFAULT_OPENGL_WINDOW": "vtkEGLRenderWindow"} if linux else {}
    changes["PYTHONPATH"] = os.pathsep.join(sys.path)
    with tempfile.TemporaryDirectory(prefix="fuzzy-vessel-") as name:
        folder = Path(name)
        np.savez(folder / "arrays.npz", **arrays)  # type: ignore[arg-type]
        task = {"views": views, "size": size, "background": background}
        (folder / "task.json").write_text(json.dumps(task))
        try:
            subprocess.run(  # noqa: S603
                [sys.executable, "-P", __file__, name], env={**os.environ, **changes}, check=True,
                timeout=TIMEOUT_S, stdin=subprocess.DEVNULL, capture_output=True,
            )  # fmt: skip
            return [np.load(folder / f"{number}.npy") for number in range(len(views))]
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise CannotRender(NO_SCREEN) from error


def framed(side: tuple, points: np.ndarray, margin: float) -> dict:
    """A square frame that holds all points round one of the sides; see `render`."""
    name, eye, up, *_ = side
    eye = np.array(eye) / np.linalg.norm(eye)
    right = np.cross(up, eye)
    right /= np.linalg.norm(right)
    axes = np.array([right, np.cross(eye, right), eye])
    placed = points @ axes.T
    centre = (placed.min(axis=0) + placed.max(axis=0)) / 2 @ axes
    half = np.ptp(placed[:, :2], axis=0).max() / 2 * margin + 2.0
    vectors = dict(zip(("right", "up", "eye"), axes.tolist()))
    return {"name": name, "centre": centre.tolist(), "half_height_mm": float(half), **vectors}


# The rest runs in the child, which imports vtk.


def main(folder: Path) -> None:
    """Render the task of a folder; the pixels of each view go into a file."""
    task = json.loads((folder / "task.json").read_text())
    with np.load(folder / "arrays.npz") as file:
        arrays = dict(file)
    half = max(view["half_height_mm"] for view in task["views"])
    # Translucent surfaces are lost with multisampling, or without alpha.
    window = vtk.vtkRenderWindow(
        off_screen_rendering=True, multi_samples=0, alpha_bit_planes=1, number_of_layers=2
    )
    window.SetSize(FINER * task["size"], FINER * task["size"])
    colour = [channel / 255 for channel in bytes.fromhex(task["background"][1:])]
    layers = [vtk.vtkRenderer(layer=number, background=colour) for number in range(2)]
    for renderer in layers:  # light from above and before, and a soft fill
        lights = vtk.vtkLightKit(key_light_intensity=0.98, key_to_fill_ratio=3.0)
        lights.SetKeyToHeadRatio(4.0)
        lights.AddLightsToRenderer(renderer)
        window.AddRenderer(renderer)
    tubes = _add_tubes(layers[0], arrays, half) if "points" in arrays else None
    if tubes is None:
        _add_surfaces(layers, arrays, half)
    for number, view in enumerate(task["views"]):
        if tubes is not None:
            tubes.GetMapper().SelectColorArray(f"colours {number}")
        np.save(folder / f"{number}.npy", _pixels(window, layers, view))


def _add_surfaces(layers, arrays, half):
    """Opaque vessels, and the seeds in a layer before them, so that none is hidden."""
    for number, colour in enumerate(arrays["colours"].tolist(), 1):
        surface = _surface(arrays["labels"] == number, arrays["matrix"])
        layers[0].AddActor(_actor(surface, colour, ambient=0.06, specular=0.30, specular_power=25))
    # Darker where vessels lie close together, which tells near from far.
    hollows = vtk.vtkSSAOPass(radius=0.16 * half, bias=0.006 * half, kernel_size=40, blur=True)
    hollows.SetDelegatePass(vtk.vtkRenderStepsPass())
    layers[0].SetPass(hollows)
    for name, colour in (("seeds", SEED), ("background_seeds", BACKGROUND_SEED)):
        layers[1].AddActor(_spheres(arrays[name], SEED_RADIUS * half, colour))


def _add_tubes(renderer, arrays, half):
    """Tubes along curves in vessels of glass; returns their actor, with colours for each view."""
    surface = _surface(arrays["labels"], arrays["matrix"])
    look = {"ambient": 0.25, "specular": 0.25, "specular_power": 30, "opacity": 0.99}
    glass = _actor(surface, GLASS, **look)
    glass.ForceTranslucentOn()
    glass.GetShaderProperty().AddFragmentShaderReplacement(
        "//VTK::Light::Impl", True, SHADER, False
    )
    curves, lines = _cloud(arrays["points"]), vtk.vtkCellArray()
    ends = np.concatenate([[0], np.cumsum(arrays["counts"])])
    lines.SetData(numpy_to_vtk(ends, deep=True), numpy_to_vtk(np.arange(ends[-1]), deep=True))
    curves.SetLines(lines)
    thickness = np.clip(OF_VESSEL * arrays["radius"], MIN_TUBE * half, TUBE * half)
    named = {f"colours {number}": each for number, each in enumerate(arrays["colours"])}
    for name, values in {"thickness": thickness, **named}.items():
        array = numpy_to_vtk(values, deep=True)
        array.SetName(name)
        curves.GetPointData().AddArray(array)
    curves.GetPointData().SetActiveScalars("thickness")
    tube = vtk.vtkTubeFilter(number_of_sides=16, capping=True)
    tube.SetVaryRadiusToVaryRadiusByAbsoluteScalar()
    tube.SetInputData(curves)
    mapper = vtk.vtkPolyDataMapper(input_connection=tube.GetOutputPort())
    mapper.SetScalarModeToUsePointFieldData()
    mapper.SetColorModeToDirectScalars()
    tubes = _actor(mapper, (1.0, 1.0, 1.0), ambient=0.32, diffuse=0.78, specular=0.15)
    for actor in (glass, tubes, _spheres(arrays["nodes"], NODE_RADIUS * half, NODE)):
        renderer.AddActor(actor)
    # All walls are of one colour: which of two lies in front hardly matters, and sorting them
    # (depth peeling) would draw the surface once more for every wall.
    renderer.SetUseDepthPeeling(0)
    renderer.SetUseOIT(True)
    return tubes


def _surface(mask, matrix):
    """The surface of a mask (K, J, I) in RAS mm as Slicer shows it, by a mapper."""
    surface = SurfaceInput(mask, matrix, SMOOTHING).surface()
    return vtk.vtkPolyDataMapper(input_data_object=surface, scalar_visibility=False)


def _spheres(points, radius, colour):
    sphere = vtk.vtkSphereSource(radius=radius, theta_resolution=32, phi_resolution=32)
    mapper = vtk.vtkGlyph3DMapper(source_connection=sphere.GetOutputPort())
    mapper.SetInputData(_cloud(points))
    return _actor(mapper, colour, ambient=0.35)


def _actor(mapper, colour, **look):
    actor = vtk.vtkActor(mapper=mapper)
    actor.SetProperty(vtk.vtkProperty(color=colour, **look))
    return actor


def _cloud(points):
    data = numpy_to_vtk(np.reshape(points, (-1, 3)).astype(np.float32), deep=True)
    return vtk.vtkPolyData(points=vtk.vtkPoints(data=data))


def _pixels(window, layers, view):
    """A view as uint8 of shape (size, size, 3): means of FINER x FINER pixels, rounded."""
    centre, eye, half = np.array(view["centre"]), np.array(view["eye"]), view["half_height_mm"]
    camera = vtk.vtkCamera(
        focal_point=centre, position=centre + eye * 10 * half, view_up=view["up"],
        parallel_projection=True, parallel_scale=half, clipping_range=(6 * half, 14 * half),
    )  # fmt: skip
    for renderer in layers:
        renderer.SetActiveCamera(camera)
    window.Render()
    grab = vtk.vtkWindowToImageFilter(input=window, read_front_buffer=False)
    grab.Update()
    image = grab.GetOutput()
    size = image.GetDimensions()[0] // FINER
    fine = vtk_to_numpy(image.GetPointData().GetScalars()).reshape(size, FINER, size, FINER, -1)
    return fine[::-1, ..., :3].mean(axis=(1, 3)).round().astype(np.uint8)


if __name__ == "__main__":
    import vtk
    from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy

    from FuzzyVesselCoreLib.mrml.surfaces import SurfaceInput

    main(Path(sys.argv[1]))
