"""Pictures of results, drawn off screen."""
