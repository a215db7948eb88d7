"""Targets to poses."""
