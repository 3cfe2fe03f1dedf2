"""Results that follow the points by themselves: by whole runs, and in slices during a drag."""
