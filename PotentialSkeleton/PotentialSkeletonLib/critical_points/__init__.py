"""Critical points of the force field, and further `seeds` of curves."""
