"""What a run changed and what should be known of it, in sentences."""


def report_sentences(report):
    """The report's warnings, and what was cleaned before.

    Parameters
    ----------
    report : dict
        Of a `CurveSkeleton`; see `PotentialSkeletonLib.skeletonize`.

    Returns
    -------
    list of str
    """
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
        components = _counted(report["components"], "component")
        found.append(f"Of {components}, {report['tiny_components']} tiny: noise, perhaps.")
    return [*found, *report["warnings"]]


def _counted(number, noun):
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"
