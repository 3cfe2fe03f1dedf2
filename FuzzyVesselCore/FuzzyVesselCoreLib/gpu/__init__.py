"""The CUDA device. Importing this package imports no CuPy.

Data flow: `availability` (can CUDA be used, and if not, why) -> `selection` (the device that
"auto", "cpu" or "cuda:1" names) -> `device` (`CudaDevice`: one run's memory) with `launches`
(kernels and their arguments), `nvrtc` (from `.cu` files to kernels; `early_compilation`: before the
device is open), `transfers` (large arrays between host and device; `coming_planes`: one part after
the other, while it is worked on) and `fourier` (cuFFT). `failures` turns CuPy's errors into
`DeviceError`. `grid_sync.cuh` is for kernels: a barrier for all blocks of a cooperative launch.
"""
