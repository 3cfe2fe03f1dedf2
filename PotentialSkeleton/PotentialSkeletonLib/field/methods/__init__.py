"""The methods that sum the forces, by name; each is a file with `sum_forces` (see `interface`).

`automatic` splits the targets into `distance_bands` and chooses for each band; `fft_convolution` is
the zero-padded convolution, `split_convolution` that of all but the charges nearby; `direct_serial`
and `direct_cuda` are the paper's programs.
`mirror_plane` corrects what all of them leave of the forces across a sheet.
"""

FORCE_METHODS = {
    "auto": "the cheapest exact method by estimated time and free memory, the default",
    "fft": "zero-padded convolution in bands of distance, on the CPU or on CUDA",
    "direct-serial": "the paper's loop over points and charges, on one core of the CPU",
    "cuda-simple": "a CUDA thread for each point, charges in global memory (paper, section 2.2)",
    "cuda-constant": "the same with the charges in constant memory (paper, section 2.3)",
    "cuda-shared": "the same with the charges staged through shared memory",
}
CPU_METHODS = ("auto", "fft", "direct-serial")
CUDA_METHODS = ("auto", "fft", "cuda-simple", "cuda-constant", "cuda-shared")
