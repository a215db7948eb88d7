"""Procedural meshes of furniture and other objects, by name for storyboards."""
