"""The force field: `convolution` of the charges, `force_field` (all)."""
