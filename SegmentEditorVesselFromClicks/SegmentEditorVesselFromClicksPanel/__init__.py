"""The effect's options and its live preview."""
