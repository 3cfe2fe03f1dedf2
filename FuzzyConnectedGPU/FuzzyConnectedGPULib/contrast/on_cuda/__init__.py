"""The parts of the contrast model that look at all voxels, on a CUDA card.

`evidence` and `widest_paths` have the CPU's rules and parameters; they are chosen by the argument
`gpu` of the functions of the same names one folder up. Arrays of the card stay valid as long as
something refers to them, and are worked on inside a ``with`` block of a `CudaDevice` of that card.
"""
