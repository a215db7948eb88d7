"""From paths to motion: speed along a path, rounded corners, frames that are free."""
