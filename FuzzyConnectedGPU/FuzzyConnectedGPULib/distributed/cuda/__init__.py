"""Blocks on a CUDA device: `blocks` (both passes) and `forest_rounds` (the first pass's forest).

`cards` chooses the card of a task, `card_processes` has a process for each. `joining` works on the
graph of a group, by `forest_rounds` or `level_rounds`; both stand on `graph_rounds`. `streaming` is
the solver of a volume larger than the card: `two_passes` solves its blocks, and `grouped_faces`
joins them where one graph is too large.
"""
