"""Objects that characters hold from the start, in grasps that are chosen once and stored on the disk."""

from __future__ import annotations

from elbowroom.character.body import Character
from elbowroom.geometry.kept import Arrays, contents, package_sources, remembered
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.motion.clip import Clip, Motion
from elbowroom.world.things import Thing


def held_from_start(
    motion: Motion, hand: str, thing: Thing, during: tuple[float, float], *, released: bool
) -> tuple[Motion, Array] | None:
    """Motion of a person whose hand is closed on an object during some seconds, and `T_hand_object` (4, 4).

    None where the hand cannot close on it; see `holding_clip` for the arm, and for `released`.
    """
    body = motion.body
    assert isinstance(body, Character)
    clip = motion if isinstance(motion, Clip) else None

    def make() -> Arrays:
        # whatever chooses grasps takes a third of a second to import
        from elbowroom.posing.grasps import held_grasp
        from elbowroom.posing.held import holding_clip

        grasp = held_grasp(body, hand, thing, released=released)
        if grasp is None:
            return {}
        arrays = {"place": inverse(grasp.T_thing_hand)}
        if clip is not None:
            arrays["rotations"] = holding_clip(clip, thing, grasp, during, released=released).rotations
        return arrays

    frames = () if clip is None else (clip.root, clip.rotations, clip.fps, clip.start)
    made_of = (body.skeleton, body.shapes, body.limits, body.roles, body.height, thing.frames, thing.grasps)
    key = (thing.mesh.vertices, thing.mesh.faces, *frames, *contents(made_of))
    held = remembered("held", (package_sources(), hand, *during, released, *key), make)
    if not held:
        return None
    return motion if clip is None else clip.with_(rotations=held["rotations"]), held["place"]
