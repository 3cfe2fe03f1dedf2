"""The command line `fuzzy-vessel`: the modules' own Logic classes on a real MRML scene, without Slicer."""
