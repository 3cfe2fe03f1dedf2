"""Curve skeletons on the MRML scene: from a labelmap or a segment to curves, models, tables."""
