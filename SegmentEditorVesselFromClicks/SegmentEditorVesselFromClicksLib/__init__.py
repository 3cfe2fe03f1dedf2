"""The file that Slicer makes the effect from; nothing can be imported from here.

Slicer loads `SegmentEditorEffect.py` under the name of its folder, in the place of this package.
What the effect does is in `SegmentEditorVesselFromClicksPanel`.
"""
