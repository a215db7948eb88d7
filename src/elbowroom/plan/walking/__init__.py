"""Walking to where something is asked for: ways through a scene, places to stand, and the walks themselves."""
