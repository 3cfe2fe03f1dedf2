"""What lies under *Advanced*: region, outputs, display, affinity, comparison and method."""
