"""Image, point and scene files to arrays; files that lie are refused."""
