"""World: characters, objects, holds and contacts over time."""
