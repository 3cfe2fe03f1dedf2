"""Volumes that fit in no memory: labels over blocks, and centrelines component by component.

`running` (stages, report; `state` of a run that can go on) -> `scene` (given, or connectedness) ->
`component_rows` (the table of components, which a run that goes on reads again) and `centrelines`
(skeleton and its files); `placing` has where voxels lie.
"""
