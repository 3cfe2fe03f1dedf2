"""A result in plain words."""

from typing import Any

from slicer.i18n import tr as _

from PotentialSkeletonLib.messages import changes, doubts

# Guarantees of `PotentialSkeletonLib` that may not hold.
NOT_HELD = {
    "thin": _("In some places the centreline is more than one voxel wide."),
    "inside": _("Parts of the centrelines lie outside of the vessels."),
    "one_piece_for_each_component": _("Some parts of the vessels have more than one centreline."),
    "same_cycles": _("The centrelines have not as many loops as the vessels."),
    "no_duplicate_nodes": _("Some junctions lie at the same place."),
}


def summary(table: dict[str, list]) -> str:
    """Return one line: how many branches of what length, in how many parts, with how many loops.

    Parameters
    ----------
    table : dict of str to list
        Of `CurveSkeleton.to_table`.
    """
    count, parts = len(table["branch"]), part_count(table)
    text = _("{count}, {length:.0f} mm").format(
        count=counted(count, _("branch"), _("branches")), length=sum(table["length_mm"])
    )
    if parts > 1:
        text += _(", {parts} separate parts").format(parts=parts)
    loops = loop_count(table)
    return f"{text}, {counted(loops, _('loop'), _('loops')) if loops else _('no loops')}"


def found_text(branches: list[int]) -> str:
    """Return what a run found: the number of branches of each tree."""
    if len(branches) == 1:
        return _("Found {count} branches.").format(count=branches[0])
    return _("Found {count} branches in {trees} trees.").format(
        count=sum(branches), trees=len(branches)
    )


def part_count(table: dict[str, list]) -> int:
    """Return how many separate parts there are."""
    return len(set(zip(_trees(table), table["component"])))


def loop_count(table: dict[str, list]) -> int:
    """Return how many independent loops the branches make."""
    trees = _trees(table)
    nodes = len({*zip(trees, table["start"]), *zip(trees, table["end"])})
    return len(table["branch"]) - nodes + part_count(table)


def _trees(table: dict[str, list]) -> list:
    """Return which tree each branch is of."""
    return table.get("tree", [""] * len(table["branch"]))


def notes(result: Any) -> list[str]:
    """Return what should be known of a run, as sentences.

    Parameters
    ----------
    result : PotentialSkeletonMRML.result.SkeletonResult
    """
    report, skeleton = result.skeleton.report, result.skeleton
    said = [*changes(report), *doubts(report, skeleton.nodes, skeleton.branches)]
    return [
        *_cleaned(report),
        *(each for each in result.warnings if each not in said),
        *_doubts(report, skeleton),
    ]


def _cleaned(report: dict[str, Any]) -> list[str]:
    """Return what was changed of the vessels before."""
    found = []
    islands, cavities = report.get("islands_dropped"), report.get("cavities_filled")
    if islands:
        found.append(
            _("{parts} ({voxels}) left out.").format(
                parts=counted(islands, _("small separate part"), _("small separate parts")),
                voxels=counted(report["island_voxels"], _("voxel"), _("voxels")),
            )
        )
    if cavities:
        found.append(
            _("{hollows} inside the vessels filled.").format(
                hollows=counted(cavities, _("hollow"), _("hollows"))
            )
        )
    if report.get("tunnels_closed"):
        found.append(
            _("{holes} through the vessels closed.").format(
                holes=counted(report["tunnels_closed"], _("hole"), _("holes"))
            )
        )
    return found


def _doubts(report: dict[str, Any], skeleton: Any) -> list[str]:
    """Return what there is to doubt."""
    found = []
    if report["tiny_components"]:
        found.append(
            _("{tiny} of {all} separate parts are tiny, perhaps noise.").format(
                tiny=report["tiny_components"], all=report["components"]
            )
        )
    if not skeleton.branches:
        found.append(_("There is no branch: each part shrinks to a point."))
    sums = zip(report["index_sums"], report["euler_characteristics"], strict=True)
    if any(index_sum not in (None, expected) for index_sum, expected in sums):
        found.append(_("Some thin parts were completed along their middle."))
    if report["joins"]:
        found.append(
            _("{gaps} between centrelines joined along the middle.").format(
                gaps=counted(report["joins"], _("gap"), _("gaps"))
            )
        )
    found += [NOT_HELD[name] for name, held in report["guarantees"].items() if not held]
    return found


def counted(number: int, one: str, many: str) -> str:
    """Return a number and its noun."""
    return f"1 {one}" if number == 1 else f"{number} {many}"
