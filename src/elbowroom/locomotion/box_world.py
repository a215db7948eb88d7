"""A person who handles a box, in a world: the box goes its way, and hands may touch it while they hold it."""

from __future__ import annotations

from elbowroom.geometry.solids import box
from elbowroom.locomotion.box import CLOSING, BoxClip
from elbowroom.world.contacts import Contact
from elbowroom.world.pairs import FLOOR, hand_of, parts_of
from elbowroom.world.paths import Keyed
from elbowroom.world.world import World

# How deep palms and fingers press on what they hold, metres: flesh gives way by as much.
GRIP = 0.005
_WHY = "holds the box"


def with_box(world: World, motion: BoxClip, who: str, name: str = "box") -> World:
    """A world in which `who` handles a box of that name.

    The box is no hold of one hand, which would turn it with that hand: both hands only keep to its sides.
    """
    path = Keyed.along(motion.clip.times, motion.places)
    world = world.with_character(who, motion.clip).with_object(name, box(motion.size), path)
    during = (motion.held[0] - CLOSING, motion.held[1] + CLOSING)
    for part in parts_of(world):
        if part.kind == "body" and part.owner == who and hand_of(part.role):
            world = world.with_contact(Contact(part.name, name, during, "grip", GRIP, _WHY))
    if world.floor is None:
        return world
    return world.with_contact(Contact(name, FLOOR, motion.clip.span, "support", 1e-3, "stands on the floor"))
