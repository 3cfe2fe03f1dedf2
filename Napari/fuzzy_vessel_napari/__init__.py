"""A napari plugin for both jobs, on napari's layers.

`napari.yaml` is its manifest (npe2). `layers` turns layers to arrays and arrays to layers, `jobs`
runs the algorithms on them, `panel` is what both widgets share: a run with progress that can be
cancelled; `vessels_widget` and `centrelines_widget` are the two.
"""
