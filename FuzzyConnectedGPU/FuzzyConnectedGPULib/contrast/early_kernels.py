"""The kernels of the contrast model on CUDA, which are compiled while the device is opened."""

from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.gpu.early_compilation import compile_early
from FuzzyVesselCoreLib.gpu.launches import CUDA_TYPES, voxel_macro
from FuzzyVesselCoreLib.gpu.selection import ordinal_of

OF_VOXELS = "denoising/convolution.cu", "evidence/background.cu"
OTHERS = (
    "denoising/guided.cu",
    "paths/widest_paths.cu",
    "paths/reached.cu",
    "evidence/samples.cu",
)


def compile_kernels_early(kind: np.dtype, device: str) -> None:
    """Begin to compile what any run needs.

    Parameters
    ----------
    kind : dtype
        Of the volume.
    device : str
        As in `choose_device`.
    """
    ordinal = ordinal_of(device)
    if ordinal is not None:
        compile_early(ordinal, files(kind))


def files(kind: np.dtype) -> list[tuple[Path, tuple[str, ...]]]:
    """Files with their macros; after denoising the voxels are float32."""
    here = Path(__file__).parent
    kinds = {np.dtype(np.float32), np.dtype(kind)}
    macros = [(voxel_macro(each),) for each in kinds if each.name in CUDA_TYPES]
    of_voxels = [(here / name, macro) for name in OF_VOXELS for macro in macros]
    return [*((here / name, ()) for name in OTHERS), *of_voxels]
