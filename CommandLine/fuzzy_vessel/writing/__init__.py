"""Results to a folder that is complete or not there."""
