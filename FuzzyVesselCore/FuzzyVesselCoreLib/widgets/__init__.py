"""What the panels of all modules share; it needs Slicer with its user interface.

`module_panel.Panel` is a panel's life, `run` one run with progress and cancel, or one that follows
the mouse; `packages` installs what Slicer does not bring.
"""
