"""A result in plain words: one line, and what to do next; steps of the branch tools."""

import re
from typing import Any

from slicer.i18n import tr as _

# So many branches shorter than their own diameter, and such a share of all, hint at a leak; so do
# so many loops.
MIN_STUBS, STUB_SHARE, MIN_LOOPS = 20, 0.4, 10
MIN_PARTS = 4  # fewer may be vessels of their own, as portal and hepatic veins are
# Kind of pruning: what a person reads, unit behind the number, number to begin with, digits.
PRUNING = {
    "length": (_("shorter than"), _(" mm"), 10.0, 1),
    "radius": (_("thinner than (radius)"), _(" mm"), 1.0, 1),
    "spur ratio": (_("short for their width"), _(" x radius"), 2.0, 1),
    "generation": (_("beyond generation"), "", 4.0, 0),
}
EDITS = {"cut": _("Branch cut"), "remove": _("Branch removed"), "bridge": _("Gap bridged")}


def next_step(table: dict[str, list]) -> str:
    """What a person does next with a result, a table of `CurveSkeleton.to_table`."""
    count = len(table["branch"])
    if not count:
        return _("No branch was found. Choose vessels that are longer than they are thick.")
    pairs = zip(table["length_mm"], table["mean_radius_mm"])
    stubs, loops = sum(length < 2 * radius for length, radius in pairs), loop_count(table)
    if loops >= MIN_LOOPS or (stubs >= MIN_STUBS and stubs > STUB_SHARE * count):
        return _(
            "{count} branches, {stubs} of them shorter than they are thick, and {loops} loops: "
            "the vessels may leak into other tissue. Correct them, then press Apply."
        ).format(count=count, stubs=stubs, loops=loops)
    if loops:
        return _(
            "Loops: branches touch, or the vessels have holes. Raise 'Close holes up to' under "
            "Advanced, then press Apply."
        )
    parts = part_count(table)
    if parts >= MIN_PARTS:
        return _(
            "{parts} separate parts: raise 'Leave out parts below' under Advanced, or join them in "
            "the Segment Editor, then press Apply."
        ).format(parts=parts)
    return _("Click a branch in the table to see it in the views.")


def summary(table: dict[str, list]) -> str:
    """One line: how many branches of what length, in how many parts, with how many loops."""
    parts, loops = part_count(table), loop_count(table)
    count = counted(len(table["branch"]), _("branch"), _("branches"))
    text = _("{count}, {length:.0f} mm").format(count=count, length=sum(table["length_mm"]))
    if parts > 1:
        text += _(", {parts} separate parts").format(parts=parts)
    return f"{text}, {counted(loops, _('loop'), _('loops')) if loops else _('no loops')}"


def found_text(branches: list[int]) -> str:
    """What a run found: the number of branches of each tree."""
    if len(branches) == 1:
        return _("Found {count} branches.").format(count=branches[0])
    text = _("Found {count} branches in {trees} trees.")
    return text.format(count=sum(branches), trees=len(branches))


def part_count(table: dict[str, list]) -> int:
    """How many separate parts there are."""
    return len(set(zip(_trees(table), table["component"])))


def loop_count(table: dict[str, list]) -> int:
    """How many independent loops the branches make."""
    trees = _trees(table)
    nodes = len({*zip(trees, table["start"]), *zip(trees, table["end"])})
    return len(table["branch"]) - nodes + part_count(table)


def _trees(table: dict[str, list]) -> list:
    return table.get("tree", [""] * len(table["branch"]))


def step_text(step: Any) -> str:
    """One step of the branch tools in words."""
    if step.kind in EDITS:
        return EDITS[step.kind]
    words, unit, _begin, digits = PRUNING[step.kind]
    if step.kind == "spur ratio":
        text = _("Removed: shorter than {value:.1f} times the radius at their start")
        return text.format(value=step.value)
    text = _("Removed: {words} {value}{unit}")
    return text.format(words=words, value=f"{step.value:.{digits}f}", unit=unit)


def branches_text(before: int, after: int) -> str:
    """How a step changed the number of branches."""
    if before == after:
        return _("No branch is like that; all {after} stay.").format(after=after)
    return _("{before} branches before, {after} now.").format(before=before, after=after)


def counted(number: int, one: str, many: str) -> str:
    """A number and its noun."""
    return f"1 {one}" if number == 1 else f"{number} {many}"


def file_name(text: str) -> str:
    """A name that every file system takes."""
    return re.sub(r'[<>:"/\\|?*\x00-\x1f]', "-", text).strip(". ")
