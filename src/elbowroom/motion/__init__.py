"""Functions of time: clips, layers, cutting and splicing, mirror, retargeting, foot contacts."""
