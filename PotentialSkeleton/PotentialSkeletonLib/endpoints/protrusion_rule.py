"""When a component of a superlevel set is a protrusion: long for its width; compiled."""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled_inside

SLENDERNESS = 2.0  # length of a component over its largest inscribed radius at an endpoint


@compiled_inside
def is_long(length: float, width: np.floating, min_length: float) -> bool:
    """Whether a component (mm) is long enough for its width to be a protrusion."""
    return bool(length > SLENDERNESS * width + min_length)


@compiled_inside
def is_local_maximum(distances: np.ndarray, offsets: np.ndarray, voxel: int) -> bool:
    """Whether a voxel begins a component: all neighbours join after it."""
    here = distances[voxel]
    for offset in offsets:
        there = distances[voxel + offset]
        if there > here or (there == here and offset > 0):
            return False
    return True


@compiled_inside
def long_enough_level(height: int, width: np.floating, unit: float, min_length: float) -> int:
    """The highest level below a height at which a component of a width is long; -1 for none."""
    if not is_long(height * unit, width, min_length):
        return -1
    level = min(max(height - int((SLENDERNESS * width + min_length) / unit), 0), height)
    while not is_long((height - level) * unit, width, min_length):
        level -= 1
    while level < height and is_long((height - level - 1) * unit, width, min_length):
        level += 1
    return level
