"""Storyboards: a world and what is to be done in it, on a page of YAML."""
