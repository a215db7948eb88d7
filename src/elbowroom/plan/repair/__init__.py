"""Repair of clips that collide with a scene."""
