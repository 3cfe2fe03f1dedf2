"""The module's panel, one file a section; it needs Slicer with its user interface.

`connectedness_panel.ConnectednessPanel` puts the sections together. Each has ``react(parameters)``,
which changes nodes after a person's act, and ``show(parameters)``, which only draws. They hold no
algorithm: what they show and start comes from the module's Logic.

First view: `input_section` (volume), `seeds_section` with `placing` and `seeds_table` (points),
`automatic_update` (runs that follow them), `threshold_section` (less and more), `advice` (the line
that says what to do next). Under *Advanced*: `region_section`, `output_section`, `display_section`,
`affinity_section`, `comparison_section`, `method_section`; `plots` are painted in them.
`choice_labels` are the texts of the choices. The module's self test is in `self_test` and, where it
presses buttons, in `panel_self_test`.
"""
