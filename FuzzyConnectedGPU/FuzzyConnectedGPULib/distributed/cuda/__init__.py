"""Blocks on a CUDA device: `blocks` (both passes) and `forest_rounds` (the first pass's forest).

`cards` chooses the card of a task. `streaming` is the solver of a volume larger than the card, with
`joining` between the passes.
"""
