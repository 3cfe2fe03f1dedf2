"""The labelmap is checked and cleaned (`preparing`, `tunnels`); its voxels' classes."""
