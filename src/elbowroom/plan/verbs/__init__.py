"""Verbs of people who stand: one file each."""
