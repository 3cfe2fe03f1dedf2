"""Runs the project's CUDA kernels on the CPU: the same `.cu` source, compiled by g++.

One fiber stands for one CUDA thread. Threads and blocks run one at a time, in an order that the
test chooses, so that a missing barrier or a race gives different results in different orders. With
`held` blocks at a time, races between blocks show too, and blocks can wait for one another.
Needs Linux and g++. Not covered: the card's memory model, textures.
"""

from .device import CpuCudaDevice, KernelFault
from .library import what_is_missing

__all__ = ["CpuCudaDevice", "KernelFault", "what_is_missing"]
