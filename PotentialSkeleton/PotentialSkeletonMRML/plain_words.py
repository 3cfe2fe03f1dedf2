"""A run in plain words: what a panel says of a skeleton."""


def summary(table):
    """One line: how many branches of what length, in how many parts, with how many loops.

    Parameters
    ----------
    table : dict of str to list
        Of `CurveSkeleton.to_table`.

    Returns
    -------
    str
    """
    count, parts = len(table["branch"]), len(set(table["component"]))
    nodes = len({*table["start"], *table["end"]})
    text = f"{_counted(count, 'branch', 'branches')}, {sum(table['length_mm']):.0f} mm"
    if parts > 1:
        text += f", {parts} separate parts"
    cycles = count - nodes + parts
    return f"{text}, {_counted(cycles, 'loop', 'loops') if cycles else 'no loops'}"


def notes(result):
    """What should be known of a run: its warnings, joins and loops.

    Parameters
    ----------
    result : PotentialSkeletonMRML.result.SkeletonResult

    Returns
    -------
    list of str
        Sentences.
    """
    report, found = result.skeleton.report, list(result.warnings)
    joins, cycles = report["joins"], report["skeleton_cycles"]
    if joins:
        verb = "was" if joins == 1 else "were"
        gaps = _counted(joins, "gap", "gaps")
        found.append(f"{gaps} between traced curves {verb} joined along the middle.")
    if cycles:
        found.append(
            f"The object has {_counted(cycles, 'loop', 'loops')}. In vessels these mostly come "
            "from branches that touch, or from holes in the segmentation: 'Close tunnels' removes "
            "small ones."
        )
    return found


def _counted(number, one, many):
    return f"1 {one}" if number == 1 else f"{number} {many}"
