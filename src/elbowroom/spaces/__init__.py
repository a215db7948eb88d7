"""Search spaces, and the mapping from a state to a posed world."""
