"""Connected components of a mask: labels, sizes, bounding boxes."""
