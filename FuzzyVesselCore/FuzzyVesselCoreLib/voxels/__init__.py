"""Operations on voxel volumes (K, J, I) that both modules need; nothing here knows of vessels.

- `bounding_box`: boxes as tuples of slices.
- `components`: connected components, their sizes and boxes, and enclosed cavities.
- `distance`: Euclidean distance to the outside, geodesic distance inside an object.
- `surface`: the closed surface of a label, smooth, with normals.
- `topology`: simple points and the Euler characteristic.
- `bit_packed_morphology`: dilation and erosion by 3 x 3 x 3 cubes, 64 voxels at a time.
- `neighbourhood`: the 26 neighbours of a voxel, for compiled code.
- `bucket_queue`: a priority queue of voxels for numba's code.

What has a CUDA version has it beside it as `cuda_NAME.py`, with its kernels in `NAME.cu`.
"""
