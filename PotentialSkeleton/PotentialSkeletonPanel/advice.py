"""What to do next, as one sentence."""

from slicer.i18n import tr as _

from .summary_text import loop_count, part_count

# So many branches shorter than their own diameter, and such a share of all, hint at a leak; so do
# so many loops.
MIN_STUBS, STUB_SHARE, MIN_LOOPS = 20, 0.4, 10
MIN_PARTS = 4  # fewer may be vessels of their own, as portal and hepatic veins are


def next_step(table: dict[str, list]) -> str:
    """Return what a person does next with a result.

    Parameters
    ----------
    table : dict of str to list
        Of `CurveSkeleton.to_table`.
    """
    count = len(table["branch"])
    if not count:
        return _("No branch was found. Choose vessels that are longer than they are thick.")
    stubs, loops = stub_count(table), loop_count(table)
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


def stub_count(table: dict[str, list]) -> int:
    """Return how many branches are shorter than they are thick."""
    pairs = zip(table["length_mm"], table["mean_radius_mm"])
    return sum(length < 2 * radius for length, radius in pairs)
