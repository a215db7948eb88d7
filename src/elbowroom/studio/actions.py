"""Actions of buttons: repair colliding characters, search for another variant, set the strength of an edit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from elbowroom.errors import BadValue
from elbowroom.motion.clip import Clip
from elbowroom.plan.prove import prove
from elbowroom.plan.state.edit import EditChange
from elbowroom.plan.state.result import Plan
from elbowroom.plan.state.settings import Tier
from elbowroom.plan.variants import ALIKE_M, difference
from elbowroom.search.birrt import keeping_trees
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.studio import edits
from elbowroom.studio.document import Document
from elbowroom.studio.studio import Studio
from elbowroom.studio.worker import StudioJob


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


# Seeds that are tried.
_TRIES = 8

FoundVariant = tuple[int, Tier, Plan] | None


def another_variant(studio: Studio) -> StudioJob:
    """Search for a visibly different motion; it becomes an edit of the seed."""
    document, board, before = studio.document, studio.board, studio.plan

    @keeping_trees()
    def work(job: StudioJob) -> FoundVariant:
        tier = document.tier
        for k in range(_TRIES):
            seed = document.seed + 1 + k
            job.tell(k / _TRIES, f"seed {seed}")
            plan = plan_storyboard(board, seed=seed, tier=tier)
            if plan.found and (before is None or difference(plan.world, before.world) > ALIKE_M):
                return seed, tier, plan
            # straight paths are the same for all seeds
            tier = "plan" if tier == "auto" else tier
        return None

    def done(found: FoundVariant) -> None:
        with studio.lock:
            if studio.board is not board:
                return
            if found is None:
                studio.say(f"No visibly different motion was found with {_TRIES} other seeds.")
                return
            seed, tier, plan = found
            studio.session.do(f"another variant, seed {seed}", document.with_(seed=seed, tier=tier))
            studio.set_plan(plan)
        studio.tell("document")

    studio.worker.cancel()
    return studio.run(StudioJob("searching for another variant", work, done))


def set_strength(studio: Studio, number: int, strength: float, muted: bool) -> StudioJob | None:
    """Set the strength of an edit, by its number from 0, and prove the motion; None if nothing changes."""
    with studio.lock:
        plan = studio.plan
        if plan is None or not studio.has_edits or number >= len(plan.edits):
            return None
        before = plan.edits[number]
        if (before.strength, before.muted) == (strength, muted):
            return None
        document = with_edit_entry(studio.document, number, strength, muted)
        changes = [c for c in studio.board.edits if c.which != number + 1]
        changes.append(EditChange(number + 1, strength, muted))
        made = plan.with_edits({number + 1: strength}).muted(number + 1, muted=muted)
        board = replace(studio.board, edits=tuple(changes))
        studio.session.do(f"strength of edit {number + 1}", document)
        studio.show(board, keep=True)
        studio.reweighted = made
        studio.set_plan(made, live=True)

    def work(job: StudioJob) -> Plan:
        return prove(made, board.fps)

    def done(proven: Plan) -> None:
        with studio.lock:
            if studio.board is board:
                studio.set_plan(proven)

    studio.worker.cancel()
    return studio.run(StudioJob("proving", work, done))


def with_edit_entry(document: Document, number: int, strength: float, muted: bool) -> Document:
    """Document with the settings of an edit, by its number from 0; an unchanged edit needs no entry."""
    values = document.edited()
    entries = [entry for entry in values.get("edits", []) if entry.get("number") != number + 1]
    entry: dict[str, Any] = {"number": number + 1, "strength": strength} | ({"mute": True} if muted else {})
    if muted or strength < 1.0:
        entries.append(entry)
    values.pop("edits", None)
    if entries:
        values["edits"] = entries
    return document.with_values(values)
