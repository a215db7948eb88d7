"""Stills, strips and films of a world, drawn without a screen."""
