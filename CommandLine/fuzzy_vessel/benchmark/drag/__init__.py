"""The table of a dragged point: from the event to the image that follows it."""
