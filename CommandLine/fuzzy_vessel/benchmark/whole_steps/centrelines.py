"""Centrelines by other programs, from the same mask: TEASAR on CPU and GPU, and VMTK.

TEASAR (Sato et al., Pacific Graphics 2000) by kimimaro, and by brook on a GPU, which takes the same
arguments. Both were written for neurons in nanometres: their lengths are given here in mm.
VMTK's centrelines (Antiga et al. 2008) are lines from an end of the vessels to others, which have
to be named: it gets the root and the tips of our skeleton.
"""

from typing import Any

import numpy as np

from PotentialSkeletonLib import CurveSkeleton

# A path takes away what lies within SCALE times the distance to the wall plus CONSTANT (mm).
SCALE, CONSTANT = 1.5, 2.0
# VMTK takes minutes for a surface as fine as the voxels. SlicerVMTK reduces it to 5,000 points:
# then 23 of the 53 lines of the liver CT's portal vein reach the root; with these 44 do.
VMTK_POINTS = 20_000
NEAR = 15.0  # mm: a line that ends so near the root has reached it


def by_teasar(package: str, mask: np.ndarray, spacing: tuple[float, float, float]) -> str:
    """Centrelines by kimimaro or brook, as a text: their length in mm.

    Parameters
    ----------
    package : str
        Name of the installed package.
    mask : ndarray of bool, shape (K, J, I)
    spacing : tuple of 3 float
        K, J, I in mm.
    """
    from importlib import import_module

    found = import_module(package).skeletonize(
        mask.astype(np.uint8),
        teasar_params={
            "scale": SCALE,
            "const": CONSTANT,
            "soma_detection_threshold": np.inf,
            "soma_acceptance_threshold": np.inf,
        },
        anisotropy=tuple(float(side) for side in spacing),
        dust_threshold=0,
        progress=False,
    )
    length = sum(skeleton.cable_length() for skeleton in found.values())
    return f"{length / 1000:.2f} m of lines"


def by_vmtk(mask: np.ndarray, spacing: tuple[float, float, float], ends: np.ndarray) -> str:
    """Centrelines by VMTK from the first end to the others, as a text: how many reach it.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
    spacing : tuple of 3 float
        K, J, I in mm.
    ends : ndarray, shape (n, 3)
        X, Y, Z in mm; at least two.
    """
    import vtk
    from vmtk import vmtkscripts

    from FuzzyVesselCoreLib.mrml.surfaces import SurfaceInput

    surface = SurfaceInput(mask > 0, np.diag([*spacing[::-1], 1.0]), 0.5).surface()
    fewer = vtk.vtkQuadricDecimation()
    fewer.SetInputData(surface)
    fewer.SetTargetReduction(max(0.0, 1 - VMTK_POINTS / surface.GetNumberOfPoints()))
    fewer.Update()
    script = vmtkscripts.vmtkCenterlines()
    script.Surface = fewer.GetOutput()
    script.SeedSelectorName = "pointlist"
    script.SourcePoints, script.TargetPoints = ends[0].tolist(), ends[1:].ravel().tolist()
    script.Execute()
    lines = script.Centerlines
    reached = 0
    for number in range(lines.GetNumberOfCells()):
        line = lines.GetCell(number).GetPoints()
        count = line.GetNumberOfPoints()
        points = np.array([line.GetPoint(end) for end in (0, count - 1)])
        reached += bool((np.linalg.norm(points - ends[0], axis=1) < NEAR).any())
    return f"{reached} of {len(ends) - 1} lines reach the root"


def ends_of_largest(skeleton: CurveSkeleton) -> tuple[int, np.ndarray]:
    """Number of the component with most ends, and its root and tips, X, Y, Z in mm."""
    components = [node.component for node in skeleton.nodes if node.kind == "end"]
    largest = max(set(components), key=components.count)
    numbers = [number for number in skeleton.roots() if skeleton.nodes[number].component == largest]
    numbers += [
        number
        for number, node in enumerate(skeleton.nodes)
        if node.kind == "end" and node.component == largest and number not in numbers
    ]
    voxels = np.array([skeleton.nodes[number].position for number in numbers])
    return largest, (voxels * skeleton.spacing)[:, ::-1]


def component_of(skeleton: CurveSkeleton, number: int, mask: np.ndarray) -> Any:
    """The voxels of one of its components: ndarray of bool, shape (K, J, I)."""
    from FuzzyVesselCoreLib.voxels.components.labels import label_components

    labels, _ = label_components(mask)
    at = next(branch.points[0] for branch in skeleton.branches if branch.component == number)
    label = labels[tuple(np.rint(at).astype(int))]
    return labels == label if label else mask
