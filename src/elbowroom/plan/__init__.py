"""Planning of tasks, and repair of the motion of characters in a world."""
