"""Stage 3: critical points of the field, and further seeds of curves."""
