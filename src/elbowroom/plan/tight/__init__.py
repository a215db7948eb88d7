"""Whole-body planning in tight places: component by component, in balance, then human-like (paper P)."""
