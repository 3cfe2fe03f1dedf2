"""Names that moved to `relative` and `segmentation`; and `live`."""
