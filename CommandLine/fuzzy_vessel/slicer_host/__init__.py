"""The wheel slicer-core as a host for MRML, without the application: `headless.start()`."""
