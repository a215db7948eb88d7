"""Meshes made by formula: furniture and other things that scenes need, by name for storyboards."""
