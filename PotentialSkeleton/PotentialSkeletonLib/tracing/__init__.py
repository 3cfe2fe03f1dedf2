"""Stage 4: streamlines of the force field, and the voxels that they pass. All is private.

Critical points -> `streamlines` (`outgoing_directions` of saddles, compiled steps in `stepping`
and `integrator` on a `tiled_field`; `meeting` ends curves at those traced before, which
`spatial_point_index` finds) -> `curve_voxels` (with `centring`). `descent_paths` and
`cuda_descent_paths` lead from endpoints and seeds to where the field is. `component_curves` gathers
all curves of one component; seeds within its `inscribed_balls` are left out.
"""
