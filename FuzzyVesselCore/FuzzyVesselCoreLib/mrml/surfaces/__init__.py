"""Closed surfaces of segments, as Slicer keeps them.

`segment_surfaces` makes, puts and takes them away; `conversion` reads a segment for a surface that
a thread makes, and makes what VTK shows of it.
"""
