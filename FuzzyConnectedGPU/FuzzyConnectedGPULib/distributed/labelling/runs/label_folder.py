"""The folder of a run that makes labels."""

from typing import Any, ClassVar

from ...run_folder import RunFolder

VERSION = 2  # of what the files hold


class LabelFolder(RunFolder):
    """Arrays by kind and group; a file is complete or absent.

    Kinds: "chunks" (which there were), "counts" (a block's histogram), "pieces" (of a block or a
    group), "closed" (components that are whole there), "kept" (their numbers), "numbers" (of the
    pieces on a group's faces) and "done" (a written block).
    """

    KINDS: ClassVar[tuple[str, ...]] = (
        "chunks", "counts", "pieces", "closed", "kept", "numbers", "done"
    )  # fmt: skip

    def begin(self, manifest: dict[str, Any], free: str = "") -> dict[str, Any]:
        """As of `StepFolder`; what another version of this program has left is refused, too."""
        return super().begin({"version": VERSION, **manifest}, free)
