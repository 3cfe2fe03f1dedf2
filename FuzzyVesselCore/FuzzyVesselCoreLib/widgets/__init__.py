"""What the panels of all modules share; it needs Slicer with its user interface.

`module_panel.Panel` is a panel's life, `run.Run` one run with progress and cancel, `latest_run` a
run that follows the mouse, `packages` installs what Slicer does not bring.
"""
