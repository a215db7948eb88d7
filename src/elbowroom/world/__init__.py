"""Who is where, when."""
