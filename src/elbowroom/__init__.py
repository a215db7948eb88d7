"""elbowroom: people moving through cluttered places without passing through things."""

__version__ = "0.1.0"
