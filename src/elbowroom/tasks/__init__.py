"""Verbs: what is asked of people in a world."""
