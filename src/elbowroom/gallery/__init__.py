"""Built-in scenes, and the makers of their meshes."""
