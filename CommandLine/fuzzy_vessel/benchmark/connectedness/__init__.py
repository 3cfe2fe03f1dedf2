"""Tables of fuzzy connectedness."""
