"""Widest paths of the weakest voxel over 26 neighbours."""
