"""The module's work on MRML nodes, without Qt; the module's Logic is its public face.

A run is `segmenting`: nodes to arrays, the library, arrays to nodes; `fuzzy_scene` says what a
result was made of. `vessel_lists` is about lists of points, `views` about what is seen.
"""
