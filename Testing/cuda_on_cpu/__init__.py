"""Runs the project's CUDA kernels on the CPU: the same `.cu` source, compiled by g++.

One fiber stands for one CUDA thread. Threads and blocks run one at a time, in an order that the
test chooses, so that a missing barrier or a race gives different results in different orders.
"""

from cuda_on_cpu.device import CpuCudaDevice, KernelFault

__all__ = ["CpuCudaDevice", "KernelFault"]
