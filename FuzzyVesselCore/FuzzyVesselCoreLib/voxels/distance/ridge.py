"""Names of `distances`."""

from ..distances import removal_order, ridge_depths  # noqa: F401
