"""Lets the n-th allocation of a run fail: numpy's functions that make arrays, or a card's pool."""

from contextlib import contextmanager

import numpy as np

# What the packages call to make arrays; the temporary arrays of expressions are not reached.
MAKERS = (
    "empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like",
    "arange", "array", "ascontiguousarray", "concatenate", "stack", "where", "unique", "argwhere",
    "flatnonzero", "nonzero", "pad", "repeat", "linspace", "bincount", "cumsum", "argsort",
)  # fmt: skip
OURS = (
    "FuzzyConnectedGPULib",
    "FuzzyVesselCoreLib",
    "PotentialSkeletonLib",
    "PotentialSkeletonMRML",
)


class Allocations:
    """Counts calls; the one numbered `fail_at` gets no memory."""

    def __init__(self, fail_at=None):
        self.count = 0
        self.fail_at = fail_at
        self.happened = False

    def next(self):
        now = self.count == self.fail_at
        self.count += 1
        if now:
            self.happened = True
            raise MemoryError("no memory at this moment of the test")


class _CountedNumpy:
    """numpy for our packages: its functions that make arrays count."""

    def __init__(self, counted):
        self._counted = counted

    def __getattr__(self, name):
        found = getattr(np, name)
        if name not in MAKERS:
            return found

        def counting(*args, **options):
            self._counted.next()
            return found(*args, **options)

        return counting


@contextmanager
def allocations(fail_at=None):
    """In the block, count the arrays that our packages make through numpy."""
    import sys

    counted = Allocations(fail_at)
    watched = _CountedNumpy(counted)
    modules = [
        module
        for name, module in list(sys.modules.items())
        if name.split(".")[0] in OURS and getattr(module, "np", None) is np
    ]
    for module in modules:
        module.np = watched
    try:
        yield counted
    finally:
        for module in modules:
            module.np = np


def failing_allocation(place):
    """In the block, the allocation `place` fails."""
    return allocations(place)


@contextmanager
def card_allocations(fail_at=None):
    """In the block, count what is taken from the card's pool in `CudaDevice`."""
    from FuzzyVesselCoreLib.gpu.device import CudaDevice

    counted, earlier = Allocations(fail_at), CudaDevice._allocate

    def allocate(device, size):
        try:
            counted.next()
        except MemoryError:
            # Beyond any card: the device's own way of telling it.
            return earlier(device, 1 << 50)
        return earlier(device, size)

    CudaDevice._allocate = allocate
    try:
        yield counted
    finally:
        CudaDevice._allocate = earlier


def failing_card_allocation(place):
    """In the block, the card has no room for the allocation `place`."""
    return card_allocations(place)
