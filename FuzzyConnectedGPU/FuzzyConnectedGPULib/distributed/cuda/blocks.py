"""Both passes over a block on a CUDA device; see `distributed.blocks`, whose results they give."""

from dataclasses import replace

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceMemoryError
from FuzzyVesselCoreLib.gpu.copier import Copier
from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.progress import Progress

from ...problem import Problem
from ...solvers.cpu.blocks.nodes import Edges
from ...solvers.cuda import active_tiles, exact
from ...solvers.cuda.contraction import contraction
from ...solvers.cuda.contraction.contracted_tiles import ContractedTiles
from .forest_rounds import FaceTiles, spanning_forest


class Upload:
    """Voxels and mask of a block, on their way to the device."""

    def __init__(self, voxels: np.ndarray, mask: np.ndarray | None, copier: Copier) -> None:
        self._soon = [copier.put(part) for part in (voxels, mask) if part is not None]

    def take(self) -> tuple[DeviceArray, DeviceArray | None]:
        """Both arrays, once: what takes them can free their memory."""
        soon, self._soon = self._soon, []
        return soon[0].result(), soon[1].result() if len(soon) > 1 else None


def face_forest(
    problem: Problem,
    faces: np.ndarray,
    ends: np.ndarray,
    progress: Progress,
    gpu: CudaDevice,
    upload: Upload | None = None,
) -> Edges:
    """The forest between face voxels and the source.

    Of several forests that are as good it may be another than the CPU's, and another in each run.

    Parameters
    ----------
    problem : Problem
        The block with its own seeds, or none.
    faces : ndarray, int64, sorted
        Flat indices in the block; inside the mask.
    ends : ndarray, int64, sorted
        The face voxels and the seeds, at least one.
    progress : Progress
    gpu : CudaDevice
        Inside its ``with`` block.
    upload : Upload, optional
        The block's voxels and mask, if they are on their way.

    Raises
    ------
    DeviceMemoryError
        The block is too large for the device, or has too many nodes to be numbered.
    """
    progress.advance(0.0)
    bounded = replace(problem, seeds=ends)
    if upload is None:
        mask = None if problem.mask is None else gpu.put(problem.mask)
        tiles = FaceTiles(bounded, gpu.put(problem.voxels), mask, gpu)
    else:
        tiles = FaceTiles(bounded, *upload.take(), gpu)
    tiles.contract(progress)
    at = np.searchsorted(faces, problem.seeds)
    at[at == faces.size] = 0
    face_seeds = at[faces[at] == problem.seeds] if faces.size else at[:0]
    return spanning_forest(tiles, faces, face_seeds, progress)


def levels(problem: Problem, progress: Progress, gpu: CudaDevice) -> np.ndarray:
    """Levels of a block whose seeds have levels, in host memory."""
    return gpu.get(device_levels(problem, progress, gpu))


def device_levels(
    problem: Problem, progress: Progress, gpu: CudaDevice, upload: Upload | None = None
) -> DeviceArray:
    """The same, on the device."""
    if upload is None:
        return exact.solve_at_once(problem, progress, gpu).levels
    if exact.suits(problem, gpu):
        try:
            tiles = ContractedTiles(problem, *upload.take(), gpu)
            return contraction.connect(tiles, progress)[0]
        except DeviceMemoryError:
            pass  # as in `exact.solve_at_once`
    else:
        upload.take()
    return active_tiles.solve(problem, progress, gpu).levels
