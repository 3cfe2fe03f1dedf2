"""Names of branches on what is made of several of them, or of a part of one."""

from collections.abc import Iterable, Mapping

from FuzzyVesselCoreLib.errors import InputError

from ..graph.curve_skeleton import CurveSkeleton
from ..tree.rooting import Forest, RootedLine
from ..tree.tracts import Tract

BETWEEN = " + "  # names of branches that are one piece


def names_of_lines(
    lines: Iterable[RootedLine], forest: Forest, names: Mapping[int, str]
) -> list[str]:
    """Of each root-to-tip line the last name on its way, or "".

    Parameters
    ----------
    lines : iterable of RootedLine
    forest : Forest
    names : mapping of int to str
        Of the skeleton's branches.
    """
    ways = [[forest.branches[n].number for n in line.branches] for line in lines]
    return [next((names[n] for n in reversed(way) if names.get(n)), "") for way in ways]


def names_of_tracts(tracts: Iterable[Tract], names: Mapping[int, str]) -> list[str]:
    """Of each tract the names of its branches, or ""."""
    return [BETWEEN.join(names[n] for n in tract.branches if names.get(n)) for tract in tracts]


def check_names(skeleton: CurveSkeleton, names: Mapping[int, str] | None) -> None:
    """Refuse names of branches that the skeleton does not have; `InputError`."""
    for number, name in (names or {}).items():
        if not 0 <= number < len(skeleton.branches):
            raise InputError(
                f"The name {name!r} belongs to branch {number}, but the skeleton has "
                f"{len(skeleton.branches)} branches, from 0."
            )
