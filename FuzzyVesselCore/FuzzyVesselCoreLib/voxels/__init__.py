"""Voxel volumes (K, J, I): `masks`, `distances`, `topology`; nothing knows of vessels."""
