"""Rotations, transforms, shapes and meshes: arrays in, arrays out, no knowledge of bodies."""
