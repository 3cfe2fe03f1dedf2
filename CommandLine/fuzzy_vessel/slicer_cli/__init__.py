"""Both jobs as CLI modules of Slicer, FuzzyVesselSegment and FuzzyVesselSkeleton."""
