"""Names of `distances`."""
