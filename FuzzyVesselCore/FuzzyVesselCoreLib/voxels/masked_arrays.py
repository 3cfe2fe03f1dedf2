"""Names of `masks`."""

from .masks import refuse_masked  # noqa: F401
