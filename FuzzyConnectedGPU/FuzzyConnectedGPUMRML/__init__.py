"""The module's work on MRML nodes, without Qt; the module's Logic is its public face.

A run is `segmenting`: nodes to arrays, the library, arrays to nodes; `run_inputs` says what a
result was made of, and what scripts get. `vessels`, `history` and `seeds` are about lists of
points, `views` about what is seen.
"""
