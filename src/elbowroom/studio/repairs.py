"""The Repair button: repair tasks for all characters that collide."""

from __future__ import annotations

from elbowroom.errors import BadValue
from elbowroom.motion.clip import Clip
from elbowroom.studio import edits
from elbowroom.studio.studio import Studio


def to_repair(studio: Studio) -> tuple[str, ...]:
    """Characters that collide in the motion shown and have no repair task yet."""
    plan = studio.plan
    if plan is None or studio.live or plan.certificate is None:
        return ()
    world = plan.world
    found: dict[str, None] = {}
    for collision in plan.certificate.collisions:
        for name in collision.pair:
            owner = world.split(name)[0]
            holders = [hold.by for hold in world.holds if hold.object == owner]
            found |= dict.fromkeys(holders or ([owner] if owner in world.characters else []))
    asked = {args.get("who") for verb, args in edits.tasks_of(studio.document) if verb == "repair"}
    return tuple(who for who in found if who not in asked and isinstance(world.characters[who], Clip))


def repair_all(studio: Studio) -> None:
    """Add a repair task for each character that collides, before its other tasks."""
    who = to_repair(studio)
    if not who:
        raise BadValue("nothing to repair: no character has collisions without a repair task.")
    document = studio.document
    for k, name in enumerate(who):
        document = edits.add_task(document, "repair", {"who": name}, at=k)
    studio.edit(f"repair {', '.join(who)}", document)
