"""MRML nodes in and out, without Qt: geometry, regions, outputs and who owns them."""
