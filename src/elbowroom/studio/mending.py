"""A motion that runs into things, brought out of them by one press of a button."""

from __future__ import annotations

from elbowroom.errors import BadValue
from elbowroom.motion.clip import Clip
from elbowroom.studio import edits
from elbowroom.studio.studio import Studio


def to_repair(studio: Studio) -> tuple[str, ...]:
    """Who runs into something in the motion that is shown, and is not asked to be repaired yet."""
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
    asked = {told.get("who") for verb, told in edits.tasks_of(studio.document) if verb == "repair"}
    return tuple(who for who in found if who not in asked and isinstance(world.characters[who], Clip))


def repair_all(studio: Studio) -> None:
    """Ask for a repair of everybody who runs into something, before all else that they do."""
    who = to_repair(studio)
    if not who:
        raise BadValue("nobody runs into anything that is not repaired already.")
    document = studio.document
    for k, name in enumerate(who):
        document = edits.add_task(document, "repair", {"who": name}, at=k)
    studio.edit(f"repair {', '.join(who)}", document)
