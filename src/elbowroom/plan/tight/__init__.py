"""Whole bodies in tight places: component by component, in balance, then like people (paper P)."""
