"""Processor seconds of a closed surface, by steps, and of Slicer's conversion where VTK is there.

    python Testing/benchmarks/surface_steps.py [DATA_FOLDER] [--repeats 5]

The expert's portal vein of the liver CT in DATA_FOLDER (FUZZY_VESSEL_DATA, else ../shared/data
beside the project), or without one the vessels of the liver phantom of 256 x 256 x 256 voxels. Of
each step the least of the repeats. "as Slicer" is the pipeline of its conversion rule with the
default parameters; surface nets are the other method that it offers.
"""

import argparse
import sys
from pathlib import Path
from time import perf_counter, process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from skeletons import data_folder

from FuzzyVesselCoreLib.phantom.liver import liver_phantom
from FuzzyVesselCoreLib.voxels.bounding_box import bounding_box
from FuzzyVesselCoreLib.voxels.surface.closed_surface import closed_surface
from FuzzyVesselCoreLib.voxels.surface.normals import vertex_normals
from FuzzyVesselCoreLib.voxels.surface.smoothing import smoothed
from FuzzyVesselCoreLib.voxels.surface.triangles import boundary_triangles

VESSELS = "ircadb01_01_portalvein.nrrd"
PASS_BAND, ITERATIONS = 0.01, 40  # of Slicer's smoothing factor 0.5
NETS_ITERATIONS = 8  # of the same factor, inside of the surface nets


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", help="with the scan (FUZZY_VESSEL_DATA)")
    parser.add_argument("--repeats", type=int, default=5, metavar="N")
    options = parser.parse_args()
    folder, found = data_folder(options.folder), {}
    if folder is None:
        labels = liver_phantom((256, 256, 256)).mask
    else:
        from fuzzy_vessel.reading.formats.nrrd import read_voxels

        labels = read_voxels(folder / VESSELS)[0] > 0
    inside = np.pad(labels[bounding_box(labels)].astype(np.uint8), 1)
    for _ in range(options.repeats + 1):
        ours(inside, found)
        slicers(inside, found)
    for step, runs in found.items():
        cpu, wall = np.min(runs[1:], axis=0)  # the first one loads or compiles
        print(f"{cpu:7.3f} CPU s {wall:7.3f} s  {step}")


def ours(inside, found):
    """Our steps."""
    vertices, triangles = timed(found, "triangles", lambda: boundary_triangles(inside))
    moved = timed(found, "smoothing", lambda: smoothed(vertices, triangles, PASS_BAND, ITERATIONS))
    timed(found, "normals", lambda: vertex_normals(moved, triangles))
    timed(found, f"all, {len(triangles)} triangles", lambda: closed_surface(inside, 1, np.eye(4)))


def slicers(inside, found):
    """The steps of Slicer's conversion; nothing without VTK."""
    try:
        import vtk
    except ModuleNotFoundError:
        return
    from FuzzyVesselCoreLib.mrml.images import image_from_array

    image = image_from_array(inside)
    edges = vtk.vtkDiscreteFlyingEdges3D()
    edges.SetInputData(image)
    edges.ComputeGradientsOff()
    edges.ComputeNormalsOff()
    edges.SetValue(0, 1)
    timed(found, "as Slicer: flying edges", edges.Update)
    smooth = vtk.vtkWindowedSincPolyDataFilter()
    smooth.SetInputData(edges.GetOutput())
    smooth.SetNumberOfIterations(ITERATIONS)
    smooth.SetPassBand(PASS_BAND)
    smooth.BoundarySmoothingOff()
    smooth.NonManifoldSmoothingOn()
    smooth.NormalizeCoordinatesOn()
    timed(found, "as Slicer: windowed sinc", smooth.Update)
    normals = vtk.vtkPolyDataNormals()
    normals.SetInputData(smooth.GetOutput())
    normals.SplittingOff()
    timed(found, "as Slicer: normals", normals.Update)
    nets = vtk.vtkSurfaceNets3D()
    nets.SetInputData(image)
    nets.SetNumberOfIterations(NETS_ITERATIONS)
    nets.SetValue(0, 1)
    timed(found, "surface nets, smooth by themselves", nets.Update)


def timed(found, step, work):
    """What `work` returns; its seconds are kept."""
    begin = process_time(), perf_counter()
    result = work()
    taken = process_time() - begin[0], perf_counter() - begin[1]
    found.setdefault(step, []).append(taken)
    return result


if __name__ == "__main__":
    main()
