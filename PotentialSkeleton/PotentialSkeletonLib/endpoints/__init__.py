"""Stage 5: endpoints of protrusions that no streamline reaches."""
