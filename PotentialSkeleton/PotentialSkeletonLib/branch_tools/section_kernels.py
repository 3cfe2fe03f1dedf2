"""The part of a plane that lies in an object and holds one place, and chords through its middle."""

import numpy as np

from FuzzyVesselCoreLib.jit import compiled, compiled_inside

OUTSIDE, UNSEEN, WAITING, INSIDE = 3, 0, 1, 2  # of a sample
BISECTIONS = 12


@compiled_inside
def value_at(solid: np.ndarray, k: float, j: float, i: float) -> float:
    """A mask between its voxels, trilinear; 0 beyond them."""
    first, found = (int(np.floor(k)), int(np.floor(j)), int(np.floor(i))), 0.0
    for corner in range(8):
        dk, dj, di = corner >> 2, (corner >> 1) & 1, corner & 1
        nk, nj, ni = first[0] + dk, first[1] + dj, first[2] + di
        inside = 0 <= nk < solid.shape[0] and 0 <= nj < solid.shape[1] and 0 <= ni < solid.shape[2]
        if inside and solid[nk, nj, ni]:
            found += (1 - abs(nk - k)) * (1 - abs(nj - j)) * (1 - abs(ni - i))
    return found


@compiled_inside
def is_others(balls: np.ndarray, own: int, k: float, j: float, i: float) -> bool:
    """Whether a place is nearer to the balls from `own` on than to those before, by their power."""
    least, nearest = np.inf, 0
    for n in range(len(balls)):
        dk, dj, di = k - balls[n, 0], j - balls[n, 1], i - balls[n, 2]
        power = (dk * balls[n, 3]) ** 2 + (dj * balls[n, 4]) ** 2 + (di * balls[n, 5]) ** 2
        if power - balls[n, 6] < least:
            least, nearest = power - balls[n, 6], n
    return nearest >= own


@compiled
def fill_section(
    solid: np.ndarray, place: np.ndarray, across: np.ndarray, other: np.ndarray,
    balls: np.ndarray, own: int, seen: np.ndarray,
) -> bool:  # fmt: skip
    """Write to `seen`, all `UNSEEN`, the samples of a plane that are connected with its middle.

    `place` and the steps `across` and `other` are in voxels. `balls` are the first `own` of the
    branch, then those of its neighbours: centre (voxels), spacing, squared radius (mm^2); what is
    theirs is outside. Returns whether the section reaches the edge of the samples. All `UNSEEN`
    stays where the place itself is outside.
    """
    half = seen.shape[0] // 2
    stack = np.empty((seen.size, 2), np.int32)
    stack[0], count, at_edge = half, 1, False
    seen[half, half] = WAITING
    while count:
        count -= 1
        row, column = stack[count]
        r, c = row - half, column - half
        k = place[0] + r * across[0] + c * other[0]
        j = place[1] + r * across[1] + c * other[1]
        i = place[2] + r * across[2] + c * other[2]
        theirs = own < len(balls) and is_others(balls, own, k, j, i)
        if theirs or value_at(solid, k, j, i) < 0.5:
            seen[row, column] = OUTSIDE
            continue
        seen[row, column] = INSIDE
        for step in range(4):
            r, c = row + (step == 0) - (step == 1), column + (step == 2) - (step == 3)
            if not (0 <= r < seen.shape[0] and 0 <= c < seen.shape[1]):
                at_edge = True
            elif seen[r, c] == UNSEEN:
                seen[r, c] = WAITING
                stack[count] = r, c
                count += 1
    return at_edge


@compiled
def chords(
    solid: np.ndarray, inside: np.ndarray, place: np.ndarray, across: np.ndarray,
    other: np.ndarray, middle: np.ndarray, count: int,
) -> np.ndarray:  # fmt: skip
    """How far a section reaches from its `middle` (row, column) in so many directions.

    Directions go round evenly. The last sample inside is found from afar, then its border between
    the voxels. In steps of the samples.
    """
    half, found = inside.shape[0] // 2, np.zeros(count)
    for n in range(count):
        angle = 2 * np.pi * n / count
        dr, dc = np.cos(angle), np.sin(angle)
        reach = float(2 * half)
        while reach > 0:
            row, column = round(middle[0] + reach * dr), round(middle[1] + reach * dc)
            if 0 <= row < len(inside) and 0 <= column < len(inside) and inside[row, column]:
                break
            reach -= 0.5
        low, high = max(reach - 1, 0.0), reach + 1
        for _step in range(BISECTIONS):
            at = (low + high) / 2
            r, c = middle[0] + at * dr - half, middle[1] + at * dc - half
            k, j, i = place + r * across + c * other
            if value_at(solid, k, j, i) >= 0.5:
                low = at
            else:
                high = at
        found[n] = (low + high) / 2
    return found
