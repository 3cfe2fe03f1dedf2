"""Stage 7: the graph of smooth branches with radii, and its export."""
