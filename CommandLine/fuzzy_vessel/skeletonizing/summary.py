"""What the user reads about a skeleton: caption of the picture and summary text."""

from .extraction import Outcome


def caption(outcome: Outcome) -> str:
    """Return the line below the picture."""
    report = outcome.skeleton.report
    parts = [f"{_branches(outcome)}, {_length(outcome)}"]
    if report["skeleton_cycles"]:
        parts.append(_counted(report["skeleton_cycles"], "loop"))
    if report["components"] > 1:
        parts.append(f"{report['components']} components")
    if outcome.distances:
        off = outcome.distances["skeleton_to_centreline"]["mean"]
        parts.append(f"{off:.2f} mm from the known ones")
    return "   |   ".join(parts)


def summary(outcome: Outcome) -> list[str]:
    """Return the lines that the user reads at the end."""
    report = outcome.skeleton.report
    counts = [_branches(outcome), _length(outcome), _counted(report["components"], "component")]
    counts.append(_counted(report["skeleton_cycles"], "loop"))
    lines = [f"skeleton   {', '.join(counts)}"]
    for name, direction in (
        ("skeleton_to_centreline", "from the skeleton to the known centrelines"),
        ("centreline_to_skeleton", "from the known centrelines to the skeleton"),
    ):
        measured = (outcome.distances or {}).get(name)
        if measured:
            lines.append(
                f"distance   {measured['mean']:.2f} mm on average, 95 % within "
                f"{measured['percentile_95']:.2f} mm {direction}, inside the liver"
            )
    return lines


def computed(outcome: Outcome) -> str:
    """Return how fast the skeleton was found."""
    return f"centrelines in {sum(outcome.skeleton.report['seconds'].values()):.2f} s"


def _branches(outcome):
    count = len(outcome.skeleton.branches)
    return "1 branch" if count == 1 else f"{count:,} branches"


def _counted(count, name):
    return f"{count:,} {name}" + ("" if count == 1 else "s")


def _length(outcome):
    if outcome.length >= 1000:
        return f"{outcome.length / 1000:.2f} m"
    return f"{outcome.length:.3g} mm"
