"""The solvers by name: the systems that the papers describe, and ours, which is the default.

Every solver has `solve(problem, progress)`, on CUDA with the device as third argument; see
`interface`. `cpu/` and `cuda/` hold the modules; "exact", the default, has one on each side, with
the same result bit for bit.
"""

SOLVERS = {
    "exact": "exact everywhere, the default: contraction (in parts) on CUDA, blocks on CPU",
    "contraction": "rounds of hooking along best edges on CUDA (Boruvka 1926), exact: whole scenes",
    "active-tiles": "visits to tiles that may still rise on CUDA, exact: needs the least memory",
    "blocks": "forests of blocks, grown by all cores of the CPU and then joined, exact",
    "dial": "bucket queue on the CPU (Dial 1969), exact: the reference",
    "kfoe": "serial first-in-first-out queue on the CPU, exact (papers, section 1.3)",
    "cuda-kfoe": "Zhuge's two CUDA kernels with stored affinities; racy writes leave error voxels",
    "cuda-kfoe-corrected": "one fused CUDA kernel that repeats its blocks' edges (both papers)",
}

# The module of this package that holds the solver, on each kind of device.
CPU_MODULES = {
    "exact": "cpu.exact",
    "blocks": "cpu.blocks.blocks",
    "dial": "cpu.dial",
    "kfoe": "cpu.kfoe",
}
CUDA_MODULES = {
    "exact": "cuda.exact",
    "contraction": "cuda.contraction.contraction",
    "active-tiles": "cuda.active_tiles",
    "cuda-kfoe": "cuda.kfoe",
    "cuda-kfoe-corrected": "cuda.kfoe_corrected",
}
