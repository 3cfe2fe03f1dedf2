"""`numpy.median`."""

from numpy import median  # noqa: F401
