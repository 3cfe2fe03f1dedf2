"""Stage 5: endpoints of protrusions that no streamline reaches. All is private.

Seen from a skeleton, each protrusion holds a local maximum of the geodesic distance. `endpoints`
runs the steps: `candidates` (local maxima that pass a quick test), `local_maxima` (which of them
are ends of protrusions by `protrusion_rule`), package `end_caps` (where a
protrusion's axis leaves it).

On CUDA `cuda_endpoints` runs the same steps of a `device_object`, with `cuda_local_maxima`,
`cuda_large_components` (grown by all blocks of a launch together) and `end_caps`.
"""
