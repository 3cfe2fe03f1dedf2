"""While a point is dragged: labels of where it is (`live_clicks`), in slices (`label_preview`)."""
