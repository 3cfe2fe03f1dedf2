"""What a person who looks at a skeleton should know of it, in sentences; figures are beside them
in the report."""

NOT_RESOLVED = (
    "Some thin parts or small tunnels are not resolved by the force field; they were completed "
    "along the deepest voxels."
)
NOT_HELD = {
    "thin": "In some places the skeleton is more than one voxel wide.",
    "inside": "Parts of the skeleton lie outside of the object.",
    "one_piece_for_each_component": "The skeleton has not one piece for each piece of the object.",
    "same_cycles": "The skeleton has not as many loops as the object.",
    "no_duplicate_nodes": "Some nodes of the skeleton lie at the same place.",
}
CHANGES = (
    ("islands_dropped", "island_voxels", "Dropped {} of few voxels ({}).", "island"),
    ("cavities_filled", "cavity_voxels", "Filled {} inside the object ({}).", "cavity"),
    ("tunnels_closed", "tunnel_voxels", "Closed {} through the object ({}).", "tunnel"),
)


def changes(report):
    """What was changed of the object before its skeleton was taken."""
    return [
        text.format(counted(report[count], noun), counted(report[voxels], "voxel"))
        for count, voxels, text, noun in CHANGES
        if report.get(count)
    ]


def doubts(report, nodes, branches):
    """What there is to doubt in a result."""
    found = []
    if report["tiny_components"]:
        parts = counted(report["components"], "component")
        found.append(f"Tiny, perhaps noise: {report['tiny_components']} of {parts}.")
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


def counted(number, noun):
    """A number and its noun, in the plural where it is not one."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("y") else f"{number:,} {noun}s"
