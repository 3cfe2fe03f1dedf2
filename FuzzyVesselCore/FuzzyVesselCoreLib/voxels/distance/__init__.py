"""Distances in an object: to its outside (Euclidean, in mm) and along it (geodesic).

`euclidean`, `geodesic` and `ridge`, which takes the Euclidean distances, are public;
`cuda_euclidean`, `cuda_geodesic` and `cuda_ridge` have the same functions. `geodesic_sweeps` and
`geodesic_queue` are the two algorithms of `geodesic`.
"""
