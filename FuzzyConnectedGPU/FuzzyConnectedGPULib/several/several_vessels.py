"""Names that moved to `relative`, until their callers have moved, too."""

from ..relative.groups import background_inside, checked_vessels
from ..segmentation import segment_several

__all__ = ["background_inside", "checked_vessels", "segment_several"]
