"""What is searched, and how a state becomes a posed world."""
