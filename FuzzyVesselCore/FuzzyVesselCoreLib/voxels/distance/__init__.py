"""Euclidean distance to the outside and geodesic distance inside an object, in mm."""
