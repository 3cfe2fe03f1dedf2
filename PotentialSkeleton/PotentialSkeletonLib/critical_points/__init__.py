"""Critical points of the force field (`roots` within cells), and further `seeds` of curves."""
