"""Repair of clips that run into things."""
