"""Built-in clips made from published gait figures, and walking along a path."""
