"""Conversion of paths to motion: speed along a path, rounded corners, collision-free frames."""
