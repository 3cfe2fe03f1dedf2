"""Names that moved to `relative`, until their callers have moved, too."""

from ..relative.branches import branch_of
from ..relative.groups import HandOver

__all__ = ["HandOver", "branch_of"]
