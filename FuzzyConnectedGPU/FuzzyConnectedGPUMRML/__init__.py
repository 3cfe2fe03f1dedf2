"""The module's work on MRML nodes, without Qt; the module's Logic is its public face.

`logic` has the Logic's methods, `parameters` the parameter node with its choices.

A run goes `segmenting` -> `run_nodes` (nodes to arrays, the library) -> `result`; `several` is the
same for several vessels. `finding` adds seeds, `difference` compares two results. A result knows
what it was made of: `run_inputs`. For the panel: `seed_rows` and `odd_points` (a list of points as
a table, and a point that disagrees), `point_history` (undo), `volume_curve`, and what views show:
`slice_layers`, `view_fit`. `sample_data` registers the phantom.
"""
