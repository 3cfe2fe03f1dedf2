"""Runs the project's CUDA kernels on the CPU: the same `.cu` source, compiled by g++.

One fiber stands for one CUDA thread. Threads and blocks run one at a time, in an order that the
test chooses, so that a missing barrier gives different results in different orders. Needs Linux on
x86-64, and g++. Not covered: races (compute-sanitizer finds them on a card), the memory model.
"""

from .device import EmulatedDevice
from .kernel import KernelFault
from .library import what_is_missing

__all__ = ["EmulatedDevice", "KernelFault", "what_is_missing"]
