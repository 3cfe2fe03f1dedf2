"""Voxel volumes (K, J, I): `masks`, `labels`, `distances`, `topology`; nothing knows of vessels."""
