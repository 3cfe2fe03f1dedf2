"""The panel of Potential-Field Skeleton (GPU); it needs Slicer with its user interface."""
