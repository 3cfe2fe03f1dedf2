"""The CUDA device. Importing this package imports no CuPy.

`device` (can CUDA be used, and if not, why; the device that "auto", "cpu" or "cuda:1" names: one
run's memory, copies and kernels) with `kernels` (from `.cu` files to kernels, and their arguments).
"""
