"""Union-find (disjoint sets) in an array of parents; compiled.

Each set is a tree, in which no element comes before its parent; a root is its own parent.
"""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, compiled_inside, inlined


@inlined
def union(a: int, b: int, parents: np.ndarray) -> None:
    """Join the sets of two elements."""
    a, b = find_root(a, parents), find_root(b, parents)
    if a != b:
        parents[max(a, b)] = min(a, b)


@compiled_inside
def find_root(n: int, parents: np.ndarray) -> int:
    """Return the root of an element's tree, and halve the path to it."""
    while parents[n] != n:
        parents[n] = parents[parents[n]]
        n = parents[n]
    return n


@compiled
def number_trees(parents: np.ndarray) -> tuple[np.ndarray, int]:
    """Number the trees from 1 in the order of their roots; the tree of element 0 has number 0.

    Returns
    -------
    numbers : ndarray, shape of the parents
        The number of each element's tree.
    count : int
    """
    numbers, count = np.zeros_like(parents), 0
    for n in range(1, parents.size):
        if parents[n] == n:
            count += 1
            numbers[n] = count
        else:
            numbers[n] = numbers[parents[n]]
    return numbers, count
