"""The command line `fuzzy-vessel`: the modules' Logic classes on a MRML scene, without Slicer.

`__main__` parses the `arguments` and runs one of the `jobs`: `reading` (files to nodes),
`segmenting` and `skeletonizing` (nodes to nodes and files), `pictures`, `report` and `writing`.
`headless` stands in for Slicer's application. Nothing here is public but the command itself.
"""
