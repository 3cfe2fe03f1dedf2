"""Stage 6: curves made one voxel thin, connected and with the object's loops."""
