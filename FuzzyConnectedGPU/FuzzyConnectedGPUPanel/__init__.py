"""The module's panel, one file for each of its sections; it needs Slicer with its user interface.

`connectedness_panel.ConnectednessPanel` puts them together. They hold no algorithm: what they show
and start comes from the module's Logic.
"""
