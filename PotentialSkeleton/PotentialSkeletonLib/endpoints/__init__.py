"""Endpoints of protrusions that no streamline reaches."""
