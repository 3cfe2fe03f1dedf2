"""Which tiles the seeds may reach above the cut, found without any affinity.

A pair of neighbours is above the cut where its sum and its difference lie within an ellipse. What
such pairs hold together without a seed has level 0, and contraction leaves out the tiles that hold
nothing else.
"""

from math import inf, log, sqrt
from pathlib import Path

import numpy as np

from ....affinity.gaussian_affinity import TOP_LEVEL
from ..active_tiles import VOXEL_NAMES

KERNELS = Path(__file__).with_name("reached_tiles.cu")
THREADS, JOIN_THREADS = 256, 64  # as in reached_tiles.cu
LANES, VOXELS_A_TILE, SAMPLED_TILE = 32, 1024, 17  # as in reached_tiles.cu
# Share of the pairs along rows above the cut from which on all tiles are taken: nearly all of them
# hang together then (of random pairs in a cubic grid, from 0.25 on).
DENSE = 0.4
# What the bounds are wider by: more than float32's rounding can change of the exponent's root.
EXPONENT_MARGIN, ROOT_MARGIN = 2e-6, 1e-3
MOST_RATIO = 500  # of the two factors, up to which float32 resolves the ellipse's sums


def search_tiles(problem, voxels, mask, seeds, tile_count, gpu):
    """Let the card search the tiles that a path from a seed may reach, without waiting for it.

    Parameters
    ----------
    problem : Problem
    voxels, mask, seeds : arrays on the card
        The mask may be a null pointer.
    tile_count : int
        Tiles as in tile_place.cuh.
    gpu : CudaDevice

    Returns
    -------
    tuple for `found_tiles`, or None
        None: any tile, as far as can be said without affinities.
    """
    bounds = bounds_of_edges(problem)
    if bounds is None or tile_count * VOXELS_A_TILE >= 2**32:
        return None
    xp, tiles = gpu.xp, np.uint32(tile_count)
    shape = tuple(np.int32(n) for n in problem.voxels.shape)
    kept = xp.empty(tile_count * LANES, np.uint64)
    parent = xp.empty(tile_count * VOXELS_A_TILE + 1, np.uint32)
    counts = xp.zeros(2, np.uint32)
    most = np.uint32(min(DENSE * VOXELS_A_TILE * -(-tile_count // SAMPLED_TILE), 2**32 - 1))
    defines = macros(problem)

    def run(name, threads, arguments, block=THREADS):
        kernel = gpu.kernel(KERNELS, name, defines)
        kernel((-(-threads // block),), (block,), arguments)

    forest = tiles, kept, parent, counts[1:], most
    lanes = LANES * tile_count
    run("join_runs", lanes, (voxels, mask, *shape, *bounds, *forest), JOIN_THREADS)
    run("join_tiles", lanes, (voxels, *shape, *bounds, *forest), JOIN_THREADS)
    run("join_seeds", seeds.size, (seeds, np.uint32(seeds.size), *shape[1:], *forest))
    listed = xp.empty(tile_count, np.uint32)
    run("list_reached", lanes, (*forest, listed, counts))
    return listed, counts, most


def found_tiles(search, gpu):
    """Numbers of the tiles that a path from a seed may reach, when the card has found them.

    Parameters
    ----------
    search : what `search_tiles` returned
    gpu : CudaDevice

    Returns
    -------
    array, uint32, or None
        None: any tile, or so many that it does not help.
    """
    if search is None:
        return None
    listed, counts, most = search
    count, pairs = gpu.get(counts)
    return None if pairs > most else listed[: int(count)]


def macros(problem):
    """What the kernels are compiled with."""
    clamped = int(problem.affinity.side != "both")
    return f"VOXEL={VOXEL_NAMES[problem.voxels.dtype.name]}", f"CLAMPED={clamped}"


def bounds_of_edges(problem):
    """What a voxel, and a pair of voxels, with an affinity above the cut cannot exceed.

    With the deviations a and b of two voxels from the mean, and the factors s and d of the
    affinity's two Gaussians, the exponent is ``(s * (a + b) / 2)**2 + (d * (a - b))**2``, of which
    no b makes less than ``a**2 / (1 / s**2 + 1 / (4 * d**2))``. Divided by ``d**2`` it is the sum
    of two squares: of what both voxels add to a sum, and of their difference.

    Returns
    -------
    tuple of 7 float32, or None
        Lowest and highest intensity of a voxel; factor of the intensity, and what comes to it, in
        a voxel's share of the sum; the limit of both squares; least and most sum, beyond which it
        costs nothing more. None where there is no cut, no bound, or a bound that float32 does not
        resolve.
    """
    mean, s, d, _, _, weighted, bright, dark = problem.affinity.coefficients().tolist()
    if problem.cut_level == 0 or weighted:
        return None
    root = sqrt(log(TOP_LEVEL / (problem.cut_level - 0.5)) + EXPONENT_MARGIN)
    root *= 1 + ROOT_MARGIN
    if 2e-7 * abs(mean) * s > ROOT_MARGIN / 2 * root or s / d > MOST_RATIO:
        return None
    reach = root * sqrt(s**-2 + d**-2 / 4)
    lowest = -inf if dark else mean - reach
    highest = inf if bright else mean + reach
    if problem.voxels.dtype.kind != "f":
        limits = np.iinfo(problem.voxels.dtype)
        if lowest <= limits.min and highest >= limits.max:
            return None
    clamp = 0.0 if dark else -inf, 0.0 if bright else inf
    ratio = s / (2 * d)
    bounds = lowest, highest, ratio, -mean * ratio, (root / d) ** 2, *clamp
    with np.errstate(over="ignore"):  # a limit beyond float32 keeps all pairs
        return tuple(np.float32(bound) for bound in bounds)
