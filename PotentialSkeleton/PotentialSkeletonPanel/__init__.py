"""The panel of the module PotentialSkeleton; it needs Slicer with its user interface."""
