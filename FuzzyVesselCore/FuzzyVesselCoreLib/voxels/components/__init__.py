"""Names of `labels`."""
