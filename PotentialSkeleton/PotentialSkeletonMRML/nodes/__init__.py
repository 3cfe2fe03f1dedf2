"""What each kind of output node is filled with, and how a new one is displayed.

`lines` (model of centrelines, tubes), `curves` (markups) in a `curve_folder`, `critical_lists`,
`tables` (branches, plots), `volumes` (labelmap, force field). `..outputs` calls them.
"""
