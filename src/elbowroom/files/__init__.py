"""Readers and writers, one file per format. Units and axes are converted here and nowhere else."""
