"""A napari plugin for both jobs (manifest: napari.yaml)."""
