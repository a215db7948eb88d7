"""One optimiser of motion: the least change of a base motion over a window of frames."""
