"""The studio: a page in the browser in which motion is repaired and directed."""
