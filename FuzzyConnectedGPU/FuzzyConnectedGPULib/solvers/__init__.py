"""The solvers by name: the systems that the papers describe, and ours, which is the default.

Every solver is a function of a `Problem` and a `Progress`, on CUDA also of the device, inside its
``with`` block. "exact", the default, has one for each kind of device, with the same result bit for
bit: `blocks` (or `dial` where little is reached) and `contraction`.
"""

from typing import Any, NamedTuple

SOLVERS = {
    "exact": "exact everywhere, the default: contraction on CUDA, blocks on the CPU",
    "contraction": "rounds of hooking along best edges on CUDA (Boruvka 1926), exact",
    "blocks": "forests of blocks, grown by all cores of the CPU and then joined, exact",
    "dial": "bucket queue on the CPU (Dial 1969), exact: the reference",
    "kfoe": "serial first-in-first-out queue on the CPU, exact (papers, section 1.3)",
    "cuda-kfoe": "Zhuge's two CUDA kernels with stored affinities; racy writes leave error voxels",
    "cuda-kfoe-corrected": "one fused CUDA kernel that repeats its blocks' edges (both papers)",
}

# Module and function of `FuzzyConnectedGPULib`, on each kind of device.
CPU_MODULES = {
    "exact": (".solvers.blocks", "solve_exact"),
    "blocks": (".solvers.blocks", "solve"),
    "dial": (".solvers.dial", "solve"),
    "kfoe": (".papers.kfoe", "solve"),
}
CUDA_MODULES = {
    "exact": (".solvers.contraction", "solve"),
    "contraction": (".solvers.contraction", "solve"),
    "cuda-kfoe": (".papers.kfoe", "solve_cuda"),
    "cuda-kfoe-corrected": (".papers.kfoe", "solve_corrected"),
}


class Solution(NamedTuple):
    """Result of a solver.

    `levels` (uint16, K, J, I; host or device) are the connectedness of each voxel, 65535 for seeds;
    `rounds` of kernels are 0 on the CPU; `peak_bytes` is the most memory held at a time,
    `on_device` the seconds from when the volume was on the device until the levels were there.
    """

    levels: Any
    rounds: int
    peak_bytes: int
    on_device: float = 0.0
