"""Teams that carry one object together."""
