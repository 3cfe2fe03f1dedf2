"""What the panels of all modules share; it needs Slicer with its user interface.

`module_panel.Panel` is a panel's life, `run.Run` one run with progress and cancel, `device_line`
the line that names the GPU or says why there is none, `output_selector` a choice of a node to write
into, `line_plot` small plots. `edit_observer` notices edits of inputs, `wording` makes sentences of
errors.
"""
