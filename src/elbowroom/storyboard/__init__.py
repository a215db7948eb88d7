"""Storyboards: a world and its tasks in one YAML file."""
