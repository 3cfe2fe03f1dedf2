"""The module's work on MRML nodes, without Qt; the module's Logic is its face."""
