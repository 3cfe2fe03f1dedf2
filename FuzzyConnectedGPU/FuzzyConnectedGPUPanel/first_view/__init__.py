"""What the panel shows without unfolding anything, from top to bottom.

`input_section` (volume), `seeds_section` with `placing` and `seeds_table` (points),
`threshold_section` with `threshold_preview` (less and more), `advice_line` (what to do next, in the
words of `advice`). Runs that follow the points are in the room `following`.
"""
