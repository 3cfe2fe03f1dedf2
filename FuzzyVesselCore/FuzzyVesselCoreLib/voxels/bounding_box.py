"""Names of `masks`."""

from .masks import Box, bounding_box, box_size, full_box, padded_box  # noqa: F401
