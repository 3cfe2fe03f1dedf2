"""Scans with documented clicks: phantom, liver CT with expert masks, aorta with a surface."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.phantom.liver import liver_phantom
from FuzzyVesselCoreLib.voxels.bounding_box import bounding_box

from ...reading.formats.nrrd import read_voxels
from .cases import LIVER_MARGIN, ClickCase

AORTA, AORTA_SURFACE = "aorta_mra.mha", "aorta_mra_surface.vtp"
LIVER_CT = "ircadb01_01"
# I, J, K, as the data's documentation lists them.
AORTA_CLICKS = (88, 93, 19), (63, 94, 20)  # the two common iliac arteries
LIVER_CLICKS = (174, 274, 73), (191, 252, 108)  # a portal branch and a hepatic vein
VESSEL_MASKS = ("portalvein", "venoussystem", "artery")


@dataclass(frozen=True)
class ReferenceCase:
    """A case with given clicks, and where its truth counts.

    Attributes
    ----------
    case : ClickCase
    clicks : list of (k, j, i)
    counted : ndarray of bool or None
        Where the result is compared with the truth; None: everywhere.
    vessels : ndarray of bool or None
        What precision is measured against, everywhere, where the truth lacks some vessels.
    """

    case: ClickCase
    clicks: list[tuple[int, int, int]]
    counted: np.ndarray | None = None
    vessels: np.ndarray | None = None


def reference_cases(
    folder: Path | None, phantom_shape: tuple[int, int, int]
) -> Iterator[ReferenceCase]:
    """The phantom, and those whose files are in the folder, one by one.

    Raises
    ------
    InputError
        A file cannot be read.
    """
    made = liver_phantom(phantom_shape)
    truth, liver = made.mask > 0, made.liver > 0
    k, j, i = made.spacing
    case = ClickCase("phantom, liver as mask", made.volume, truth & liver, liver, (k, j, i))
    yield _case(case, made.seeds)
    case = ClickCase("phantom, no mask", made.volume, truth & liver, None, (k, j, i))
    yield _case(case, made.seeds, counted=liver, vessels=truth)
    if folder is None:
        return
    try:
        if (folder / f"{LIVER_CT}_ct.nrrd").is_file():
            yield from _liver(folder)
        if (folder / AORTA).is_file() and (folder / AORTA_SURFACE).is_file() and find_spec("vtk"):
            yield _aorta(folder)
    except (OSError, KeyError, ValueError) as error:
        raise InputError(f"{folder}: a reference case cannot be read: {error}") from error


def _case(case, clicks, **others):
    return ReferenceCase(case, [(int(k), int(j), int(i)) for k, j, i in clicks], **others)


def _liver(folder):
    """The liver CT with its liver as mask, and without a mask."""
    volume, spacing = read_voxels(folder / f"{LIVER_CT}_ct.nrrd")
    liver = read_voxels(folder / f"{LIVER_CT}_liver.nrrd")[0] > 0
    liver = ndimage.binary_dilation(liver, iterations=LIVER_MARGIN)
    masks = [read_voxels(folder / f"{LIVER_CT}_{name}.nrrd")[0] > 0 for name in VESSEL_MASKS]
    truth = (masks[0] | masks[1]) & liver
    clicks = [click[::-1] for click in LIVER_CLICKS]
    case = ClickCase(f"{LIVER_CT}, liver as mask", volume, truth, liver, tuple(spacing))
    yield _case(case, clicks)
    case = ClickCase(f"{LIVER_CT}, no mask", volume, truth, None, tuple(spacing))
    yield _case(case, clicks, counted=liver, vessels=reduce(np.logical_or, masks))


def _aorta(folder):
    """The aorta; VMTK's surface holds a part of it, so that only the surface's box counts."""
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy

    reader = vtk.vtkMetaImageReader()
    reader.SetFileName(str(folder / AORTA))
    reader.Update()
    image = reader.GetOutput()
    voxels = vtk_to_numpy(image.GetPointData().GetScalars())
    voxels = voxels.reshape(image.GetDimensions()[::-1])
    # The axes of the file point to right and anterior, so that its offset is that of RAS, negated.
    origin = np.array(image.GetOrigin()) * (-1, -1, 1)
    truth = inside_surface(folder / AORTA_SURFACE, voxels.shape, image.GetSpacing(), origin)
    case = ClickCase("aorta, VMTK's surface", voxels, truth, None, image.GetSpacing()[::-1])
    counted = np.zeros(truth.shape, bool)
    counted[bounding_box(truth)] = True
    return _case(case, [click[::-1] for click in AORTA_CLICKS], counted=counted)


def inside_surface(path: Path, shape: tuple[int, ...], spacing: Any, origin: Any) -> np.ndarray:
    """Voxels (bool, K, J, I) whose centres lie within a closed surface, by VTK.

    Parameters
    ----------
    path : Path
        A .vtp file.
    shape : (K, J, I)
    spacing, origin : sequence of 3 float
        Of the volume, I, J, K, in the surface's coordinates.
    """
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy

    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    stencil = vtk.vtkPolyDataToImageStencil()
    stencil.SetInputConnection(reader.GetOutputPort())
    stencil.SetOutputSpacing(*spacing)
    stencil.SetOutputOrigin(*origin)
    stencil.SetOutputWholeExtent(0, shape[2] - 1, 0, shape[1] - 1, 0, shape[0] - 1)
    image = vtk.vtkImageStencilToImage()
    image.SetInputConnection(stencil.GetOutputPort())
    image.SetInsideValue(1)
    image.SetOutputScalarTypeToUnsignedChar()
    image.Update()
    return vtk_to_numpy(image.GetOutput().GetPointData().GetScalars()).reshape(shape) > 0
