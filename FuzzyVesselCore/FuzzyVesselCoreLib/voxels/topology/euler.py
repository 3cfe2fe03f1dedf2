"""Names of `topology`."""

from . import cycle_count, euler_characteristic  # noqa: F401
