"""Bodies: joints and their limits, skeleton, rig detection, shapes, skin, mass, presets, dynamics."""
