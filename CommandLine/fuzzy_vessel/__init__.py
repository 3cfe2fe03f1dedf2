"""The command line `fuzzy-vessel`: the modules' Logic classes on a MRML scene, without Slicer."""
