"""Messages on a skeleton, in sentences; the numbers behind them are in its report."""

from collections.abc import Mapping, Sequence
from typing import Any

NOT_RESOLVED = (
    "Some thin parts or small tunnels are not resolved by the force field; they were completed "
    "along the deepest voxels."
)
NOT_HELD = {
    "thin": "In some places the skeleton is more than one voxel wide.",
    "inside": "Parts of the skeleton lie outside of the object.",
    "one_piece_for_each_component": "The skeleton has not one connected component for each "
    "component of the object.",
    "same_cycles": "The skeleton has not as many loops as the object.",
    "no_duplicate_nodes": "Some nodes of the skeleton lie at the same position.",
}
CHANGES = (
    ("islands_dropped", "island_voxels", "Dropped {} of few voxels ({}).", "island"),
    ("cavities_filled", "cavity_voxels", "Filled {} inside the object ({}).", "cavity"),
    ("tunnels_closed", "tunnel_voxels", "Closed {} through the object ({}).", "tunnel"),
)


def changes(report: Mapping[str, Any]) -> list[str]:
    """Messages on what was changed of the object before its skeleton was taken."""
    return [
        text.format(counted(report[count], noun), counted(report[voxels], "voxel"))
        for count, voxels, text, noun in CHANGES
        if report.get(count)
    ]


def doubts(report: Mapping[str, Any], nodes: Sequence, branches: Sequence) -> list[str]:
    """Messages on what is doubtful in a result."""
    found = []
    if report["tiny_components"]:
        components = counted(report["components"], "component")
        found.append(f"Tiny, perhaps noise: {report['tiny_components']} of {components}.")
    if not branches:
        points = counted(len(nodes), "point")
        found.append(f"There is no branch: the skeleton is {points}, seen in the labelmap only.")
    if any(
        index_sum not in (None, characteristic)
        for index_sum, characteristic in zip(
            report["index_sums"], report["euler_characteristics"], strict=True
        )
    ):
        found.append(NOT_RESOLVED)
    found += [NOT_HELD[name] for name, held in report["guarantees"].items() if not held]
    return found


def counted(number: int, noun: str) -> str:
    """A number and its noun, in the plural where it is not one."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("y") else f"{number:,} {noun}s"
