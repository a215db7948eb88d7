"""Verbs of standing characters, one file each."""
