"""Tables of the field and the skeleton."""
