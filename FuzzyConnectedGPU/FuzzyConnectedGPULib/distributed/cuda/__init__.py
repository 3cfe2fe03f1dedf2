"""Blocks on a CUDA device: `blocks` (both passes) and `forest_rounds` (the first pass's forest).

`cards` chooses the card of a task. `joining` works on the graph of a group. `streaming` is the
solver of a volume larger than the card: `two_passes` solves its blocks, and `grouped_faces` joins
them where one graph is too large.
"""
