"""Curves along the force (`streamlines`, by steps of the `integrator`), and their voxels."""
