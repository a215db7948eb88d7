"""Walking to a goal or task: paths through a scene, places to stand, and the walks."""
