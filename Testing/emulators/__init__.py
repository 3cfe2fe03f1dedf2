"""What stands in for a CUDA device and for Slicer's widgets in the tests."""
