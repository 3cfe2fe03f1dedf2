"""Stage 2: the potential field of a component and how its forces are summed."""
