"""The CUDA device. Importing this package imports no CuPy.

`availability` (can CUDA be used, and if not, why) -> `selection` (the device that "auto", "cpu" or
"cuda:1" names) -> `device` (`CudaDevice`: one run's memory, copies and kernels) with `transfers`
(copies), `nvrtc` (from `.cu` files to kernels) and `launches` (the kernels' arguments).
"""
