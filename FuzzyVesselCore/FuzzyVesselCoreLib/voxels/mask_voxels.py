"""Names of `masks`."""

from .masks import mask_voxels  # noqa: F401
