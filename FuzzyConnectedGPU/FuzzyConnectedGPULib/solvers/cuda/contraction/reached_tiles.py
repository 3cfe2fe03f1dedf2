"""Which tiles the seeds may reach above the cut, found without computing affinities.

A pair of neighbours is above the cut where its sum and its difference lie within an ellipse.
Components of such pairs without a seed have level 0, and contraction skips the tiles that contain
nothing else.
"""

from math import inf, log, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.kernel_structs import KernelStruct
from FuzzyVesselCoreLib.gpu.launches import voxel_macro

from ....affinity import TOP_LEVEL
from ....problem import Problem

KERNELS = Path(__file__).with_name("reached_tiles.cu")
THREADS, JOIN_THREADS = 256, 64  # as in reached_tiles.cu
LANES, VOXELS_PER_TILE, SAMPLED_TILE = 32, 1024, 17  # as in reached_tiles.cu
# Share of the pairs along rows above the cut from which on all tiles are used: nearly all of them
# are connected then (of random pairs in a cubic grid, from 0.25 on).
DENSE = 0.4
# Margins of the bounds: more than float32's rounding can change of the exponent's root.
EXPONENT_MARGIN, ROOT_MARGIN = 2e-6, 1e-3
MAX_RATIO = 500  # of the two factors, up to which float32 resolves the ellipse's sums


class Search(NamedTuple):
    """A search that runs on the device.

    Attributes
    ----------
    listed : device array, uint32
        The tiles.
    counts : device array, uint32, shape (2,)
        Number of tiles, and of sampled pairs above the cut.
    max_pairs : int
        With more of them all tiles are used.
    """

    listed: DeviceArray
    counts: DeviceArray
    max_pairs: int


def search_tiles(
    problem: Problem,
    voxels: DeviceArray,
    mask: DeviceArray,
    seeds: DeviceArray,
    tile_count: int,
    gpu: CudaDevice,
) -> Search | None:
    """Start the search of tiles that a path from a seed may reach, without waiting for it.

    Parameters
    ----------
    problem : Problem
    voxels, mask, seeds : device arrays
        The mask may be a null pointer.
    tile_count : int
        Tiles as in tile_geometry.cuh.
    gpu : CudaDevice

    Returns
    -------
    Search for `found_tiles`, or None
        None: any tile may be reached, as far as is known without affinities.
    """
    bounds = bounds_of_edges(problem)
    if bounds is None or tile_count * VOXELS_PER_TILE >= 2**32:
        return None
    xp = gpu.xp
    rows = xp.empty(tile_count * LANES, np.uint64)
    parent = xp.empty(tile_count * VOXELS_PER_TILE + 1, np.uint32)
    counts = xp.zeros(2, np.uint32)
    max_pairs = int(min(DENSE * VOXELS_PER_TILE * -(-tile_count // SAMPLED_TILE), 2**32 - 1))
    grid = tile_grid(gpu, KERNELS, problem.voxels.shape)
    forest = gpu.struct(KERNELS, "Forest", tiles=tile_count, rows=rows, parent=parent)
    sample = gpu.struct(KERNELS, "Sample", pairs=counts[1:], limit=max_pairs)
    limits = gpu.struct(KERNELS, "Bounds", **bounds)
    defines = macros(problem)

    def run(name: str, threads: int, args: tuple, block: int = THREADS) -> None:
        kernel = gpu.kernel(KERNELS, name, defines)
        kernel((-(-threads // block),), (block,), args)

    lanes, runs = LANES * tile_count, (grid, forest, sample)
    run("join_row_runs", lanes, (*runs, limits, voxels, mask), JOIN_THREADS)
    run("join_tiles", lanes, (*runs, limits, voxels), JOIN_THREADS)
    run("join_seeds", seeds.size, (*runs, seeds, np.uint32(seeds.size)))
    listed = xp.empty(tile_count, np.uint32)
    run("list_reached", lanes, (forest, sample, listed, counts))
    return Search(listed, counts, max_pairs)


def found_tiles(search: Search | None, gpu: CudaDevice) -> DeviceArray | None:
    """Numbers of the tiles that a path from a seed may reach; waits for the search.

    Parameters
    ----------
    search : Search or None
    gpu : CudaDevice

    Returns
    -------
    device array, uint32, or None
        None: any tile, or so many that skipping the others does not pay.
    """
    if search is None:
        return None
    count, pairs = gpu.get(search.counts)
    return None if pairs > search.max_pairs else search.listed[: int(count)]


def macros(problem: Problem) -> tuple[str, str]:
    """Macros of the kernels."""
    clamped = int(problem.affinity.side != "both")
    return voxel_macro(problem.voxels.dtype), f"CLAMPED={clamped}"


def tile_grid(
    gpu: CudaDevice,
    kernels: Path,
    shape: tuple[int, ...],
    reached: DeviceArray | None = None,
    first: int = 0,
) -> KernelStruct:
    """`TileGrid` of tile_geometry.cuh: a volume (K, J, I) and the tiles of one launch.

    Parameters
    ----------
    gpu : CudaDevice
    kernels : Path
        A file that includes tile_geometry.cuh.
    shape : 3 ints
    reached : device array, uint32, optional
        The tiles that are worked on; None: all.
    first : int
        Index in `reached` of the launch's first tile.
    """
    nk, nj, ni = shape
    return gpu.struct(kernels, "TileGrid", nk=nk, nj=nj, ni=ni, reached=reached, first=first)


def bounds_of_edges(problem: Problem) -> dict[str, np.float32] | None:
    """Bounds of a voxel, and of a pair of voxels, with an affinity above the cut.

    With the deviations a and b of two voxels from the mean, and the factors s and d of the
    affinity's two Gaussians, the exponent is ``(s * (a + b) / 2)**2 + (d * (a - b))**2``, of which
    no b makes less than ``a**2 / (1 / s**2 + 1 / (4 * d**2))``. Divided by ``d**2`` it is the sum
    of two squares: of what both voxels add to a sum, and of their difference.

    Returns
    -------
    dict of 7 float32, or None
        `Bounds` of reached_tiles.cu: lowest and highest intensity of a voxel; factor of the
        intensity (ratio), and the constant (offset), in a voxel's share of the sum; the limit of
        both squares; minimum and maximum of the sum, beyond which it costs nothing more. None where
        there is no cut, no bound, or a bound that float32 does not resolve.
    """
    mean, s, d, _, _, weighted, bright, dark = problem.affinity.coefficients().tolist()
    if problem.cut_level == 0 or weighted:
        return None
    root = sqrt(log(TOP_LEVEL / (problem.cut_level - 0.5)) + EXPONENT_MARGIN)
    root *= 1 + ROOT_MARGIN
    if 2e-7 * abs(mean) * s > ROOT_MARGIN / 2 * root or s / d > MAX_RATIO:
        return None
    reach = root * sqrt(s**-2 + d**-2 / 4)
    lowest = -inf if dark else mean - reach
    highest = inf if bright else mean + reach
    if problem.voxels.dtype.kind != "f":
        limits = np.iinfo(problem.voxels.dtype)
        if lowest <= limits.min and highest >= limits.max:
            return None
    ratio = s / (2 * d)
    bounds = dict(lowest=lowest, highest=highest, ratio=ratio, offset=-mean * ratio)
    bounds.update(limit=(root / d) ** 2)
    bounds.update(min_sum=0.0 if dark else -inf, max_sum=0.0 if bright else inf)
    with np.errstate(over="ignore"):  # a limit beyond float32 keeps all pairs
        return {name: np.float32(bound) for name, bound in bounds.items()}
