"""Verbs of people who walk, and at things that move."""
