"""Planning: tasks of hands and feet, and repairs, worked into the motion of people in a world."""
