"""Groups of branches by names: a branch without one belongs to the nearest named one upstream."""

from collections.abc import Mapping

from ..interchange.names import check_names
from ..tree.rooting import Forest


def inherited_names(forest: Forest, names: Mapping[int, str]) -> dict[int, str]:
    """Name of each branch: its own, or that of the nearest branch upstream that has one.

    Parameters
    ----------
    forest : Forest
        The roots say what is upstream.
    names : mapping of int to str
        Of the skeleton's branches.

    Returns
    -------
    dict of int to str
        Branches before the first name, and those that close loops without a name, are left out.

    Raises
    ------
    InputError
        If a name belongs to no branch.

    Examples
    --------
    >>> from PotentialSkeletonLib.tree import rooted_forest, skeleton_of_polylines
    >>> line = skeleton_of_polylines(
    ...     [[[0, 0, 0], [9, 0, 0]], [[9, 0, 0], [18, 0, 0]], [[9, 0, 0], [9, 9, 0]]],
    ...     [[3, 2], [2, 1], [2, 1]],
    ... )
    >>> inherited_names(rooted_forest(line, roots=[0]), {0: "trunk", 2: "left"})
    {0: 'trunk', 1: 'trunk', 2: 'left'}
    """
    check_names(forest.skeleton, names)
    found = {number: name for number, name in names.items() if name}
    for branch in forest.branches:  # parents come first
        upstream = forest.branches[branch.parent].number if branch.parent >= 0 else None
        if branch.number not in found and upstream in found:
            found[branch.number] = found[upstream]
    return dict(sorted(found.items()))
