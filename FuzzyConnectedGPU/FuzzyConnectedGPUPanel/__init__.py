"""The module's panel; it needs Slicer with its user interface.

`connectedness_panel.ConnectednessPanel` puts the sections together, one file a section: those of
`first_view`, and those under *Advanced* in `advanced`. Each has ``react(parameters)``, which
changes nodes after a person's act, and ``show(parameters)``, which only draws. They hold no
algorithm: what they show and start comes from the module's Logic.

`plots` are painted in the sections; `wording` says in the panel's words what the library reports.
The module's self test is in `self_test` and, where it presses buttons, in `panel_self_test`.
"""
