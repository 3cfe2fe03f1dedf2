"""The loops of the convolution on the CPU; compiled, without the interpreter lock."""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, inlined


@inlined
def part_of(number: complex, imaginary: bool) -> float:
    """Return the real part, or the imaginary one with the sign turned."""
    return -number.imag if imaginary else number.real


@compiled
def extend_first(half: np.ndarray, imaginary: bool, add_odd: bool, whole: np.ndarray) -> None:
    """Extend an even sequence along the first axis; see `Transforms.extended`."""
    size, columns, rows = whole.shape
    for place in range(size):
        n = min(place, size - place)
        offset = place if place <= size // 2 else place - size
        for column in range(columns):
            for j in range(rows):
                value = part_of(half[n, column, j], imaginary)
                if add_odd:
                    value += offset * half[n, column, j].real
                whole[place, column, j] = value


@compiled
def extend_last(half: np.ndarray, imaginary: bool, add_odd: bool, whole: np.ndarray) -> None:
    """Extend an even sequence along the last axis; see `Transforms.extended`."""
    depth, columns, size = whole.shape
    for k in range(depth):
        for column in range(columns):
            source, target = half[k, column], whole[k, column]
            for n in range(size // 2 + 1):
                value = part_of(source[n], imaginary)
                odd = n * source[n].real if add_odd else 0.0
                if 0 < n < size // 2:
                    target[size - n] = value - odd
                target[n] = value + odd


@compiled
def multiply(
    spectrum: np.ndarray,
    factors: np.ndarray,
    imaginary: bool,
    odd_axis: int,
    product: np.ndarray,
) -> None:
    """Multiply a spectrum by -i and real factors; see `CpuTransforms.multiply`."""
    depth, columns, rows = spectrum.shape
    for k in range(depth):
        mirrored = k > depth // 2
        from_k = depth - k if mirrored else k
        sign = -1.0 if mirrored and odd_axis == 0 else 1.0
        other_sign = -sign if odd_axis == 1 else sign
        for column in range(columns):
            source, target = spectrum[k, column], product[k, column]
            factor = factors[from_k, column]
            for j in range(rows // 2 + 1):
                by = sign * part_of(factor[j], imaginary)
                target[j] = complex(source[j].imag * by, -source[j].real * by)
            for j in range(rows // 2 + 1, rows):
                by = other_sign * part_of(factor[rows - j], imaginary)
                target[j] = complex(source[j].imag * by, -source[j].real * by)


@compiled
def write_component(
    values: np.ndarray,
    targets: np.ndarray,
    component: int,
    near: np.ndarray,
    vectors: np.ndarray,
) -> None:
    """Write one component of the force to vectors (K, J, I, 3) at the targets.

    The near part of the force, (n, 3), is added, if there is one; for each target in turn.
    """
    depth, rows, width = targets.shape
    n, target = 0, 0
    for k in range(depth):
        for j in range(rows):
            is_used = False
            for i in range(width):
                if targets[k, j, i]:
                    value = values[n, i]
                    if len(near):
                        value += near[target, component]
                    vectors[k, j, i, component] = value
                    target += 1
                    is_used = True
            n += is_used
