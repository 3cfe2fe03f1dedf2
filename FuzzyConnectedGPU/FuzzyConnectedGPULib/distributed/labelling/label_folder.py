"""The folder of a run that makes labels."""

from typing import Any, ClassVar

import numpy as np

from ..partition import Group
from ..run_folder import RunFolder


class LabelFolder(RunFolder):
    """Arrays by kind and group; a file is complete or absent.

    Kinds: "counts" (a block's histogram), "pieces" (of a block or a group), "closed" (components
    that are whole there), "kept" (their numbers), "numbers" (of the pieces on a group's faces) and
    "done" (a written block).
    """

    KINDS: ClassVar[tuple[str, ...]] = ("counts", "pieces", "closed", "kept", "numbers", "done")

    def put(self, kind: str, group: Group, **arrays: Any) -> None:
        """Keep arrays of a group."""
        self._write(f"{kind}-{group}.npz", lambda file: np.savez(file, **arrays))

    def get(self, kind: str, group: Group) -> dict[str, np.ndarray]:
        """The arrays of a group."""
        return self._arrays(kind, group)
