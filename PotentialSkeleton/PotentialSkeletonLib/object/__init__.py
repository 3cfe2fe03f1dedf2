"""The labelmap is checked and cleaned (`preparing`); its voxels' classes."""
