"""Tasks of moving characters, and tasks at moving targets."""
