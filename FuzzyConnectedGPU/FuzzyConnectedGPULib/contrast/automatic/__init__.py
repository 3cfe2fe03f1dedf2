"""Seeds without a click: the axes of the strongest tubes."""
