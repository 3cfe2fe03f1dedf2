"""Passes over all voxels of an object, on the card; each equals the host code of the same name."""
