"""Stage 2: the force field of each component, summed over the charges on its surface.

`solid` (CPU) and `cuda_solid` (CUDA) give charges and targets; `summation` runs one of `methods`,
some of which use `convolution`; boundary voxels get their neighbours' mean (`neighbour_mean`);
`scatter` writes a solid's forces to the volume. `force_field` is the public entry point; `tiles`
and `cuda_tiles` hand the field on to the tracing of curves, tile by tile.
"""
