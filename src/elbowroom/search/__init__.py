"""Planners that know only a space."""
