"""Stage 1: the labelmap checked, cleaned and split into solid components."""
