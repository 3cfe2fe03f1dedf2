"""The force field: `solid` (charges, classes), `convolution` (their sum), `force_field` (all)."""
