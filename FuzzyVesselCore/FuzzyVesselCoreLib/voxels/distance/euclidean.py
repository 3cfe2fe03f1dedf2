"""Names of `distances`."""

from ..distances import distance_to_outside  # noqa: F401
