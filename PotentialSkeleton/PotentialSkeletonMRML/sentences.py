"""What a run changed and what should be known of it, in sentences."""


def sentences(skeleton):
    """The warnings of a skeleton's report, and what was cleaned before.

    Parameters
    ----------
    skeleton : CurveSkeleton

    Returns
    -------
    list of str
    """
    report = skeleton.report
    cleaned = (
        ("islands_dropped", "island_voxels", "Dropped {} of few voxels ({})", "island"),
        ("cavities_filled", "cavity_voxels", "Filled {} inside the object ({})", "cavity"),
        ("tunnels_closed", "tunnel_voxels", "Closed {} through the object ({})", "tunnel"),
    )
    found = [
        text.format(_counted(report[count], noun), _counted(report[voxels], "voxel")) + "."
        for count, voxels, text, noun in cleaned
        if report[count]
    ]
    if report["tiny_components"]:
        parts = _counted(report["components"], "component")
        found.append(f"Tiny, perhaps noise: {report['tiny_components']} of {parts}.")
    if not skeleton.branches:
        points = _counted(len(skeleton.nodes), "point")
        found.append(f"There is no branch: the skeleton is {points}, seen in the labelmap only.")
    return [*found, *report["warnings"]]


def _counted(number, noun):
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"
