"""Names that moved to `relative`, until their callers have moved, too."""

from ..relative.groups import BACKGROUND, BACKGROUND_NAME
from ..relative.vessels import divide_by_contrast
from ..relative.vessels import with_middles as with_ridges

__all__ = ["BACKGROUND", "BACKGROUND_NAME", "divide_by_contrast", "with_ridges"]
