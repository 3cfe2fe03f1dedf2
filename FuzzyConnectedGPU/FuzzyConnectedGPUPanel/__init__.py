"""The module's panel; it needs Slicer with its user interface.

`connectedness_panel` puts the sections together. Each has ``react(parameters)``, which changes
nodes after a person's act, ``show(parameters)``, which only draws, and ``forget()`` for when the
scene is closed. They hold no algorithm.
"""
