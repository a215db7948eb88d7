"""Search space of people and robots who hold an object where they stand at it (E2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry.cover import mesh_cover
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import shape_mesh
from elbowroom.geometry.transforms import facing, leftwards
from elbowroom.kernels.fields import Fields
from elbowroom.locomotion.departure import stance_of
from elbowroom.locomotion.envelope import envelope
from elbowroom.plan.teams.robots import RobotCarrier
from elbowroom.plan.teams.stances import steps_back
from elbowroom.plan.verbs.carrier import Carrier
from elbowroom.plan.verbs.holding import Grips
from elbowroom.plan.walking.crossing import under_way
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.spaces.team import Bearer, FloorCells, TeamSpace
from elbowroom.spaces.team_scene import grouped, narrow_places, open_cells
from elbowroom.world.columns import CELL_M, Columns, columns_of
from elbowroom.world.exact import ExactWorld
from elbowroom.world.scene_field import scene_field
from elbowroom.world.world import World

# Clearance of the object, metres.
_MARGIN_M = 0.03
# Extra reach of a leaning body, metres, and the shortest reach of an arm, share of it.
_LEANS_M, _FOLDED = 0.06, 0.3
# Heights of carrying hands, shares of the body's height: lowest, usual and highest.
_HANDS = (0.47, 0.56, 0.84)
# Band of the scene that legs and trunk meet: from, metres, and to, share of the body's height. Heads bend.
LOW_M, TRUNK = 0.05, 0.8
# Position of bent elbows: to the side, and between which heights, shares of the body's height.
_ELBOWS, _ELBOW_BAND = 0.175, (0.5, 0.72)
# Metres between forearms and trunk of a walking person beside an object that does not sway, or alone with one that
# does.
_SWAYS_M, _SWAYS_ALONE_M = 0.07, 0.09
# Distance of the middle of the body from the object at least, share of the height.
_DEPTH = 0.155
# Clearance of a robot's base, and distance of its middle from the outline of the object, metres; share of its arm's
# reach that is used.
_BESIDE_ROBOT_M, _DEPTH_ROBOT_M, _STRETCHED = 0.03, 0.2, 0.95
# Clearance of legs and trunk, metres: sidesteps and turns are wider than steps ahead.
_BESIDE_M = 0.05
# Cells this near to a surface count as solid: walls are thin, metres.
_SHELL_M = 0.08
# Widest passage that counts as narrow, metres.
_WIDEST_M = 1.8


def team_space(
    world: World, carriers: Sequence[Carrier], grips: Sequence[Grips], robots: Sequence[RobotCarrier],
    goals: Sequence[Array], *, tilts: bool,
) -> TeamSpace:  # fmt: skip
    """Space of people and robots that stand at an object and hold it, with everything else as it is now; `goals` (4,
    4).
    """
    lead = carriers[0]
    now, thing = lead.actor.now, lead.thing
    T = np.asarray(world.frame(thing, now))
    people = {carrier.actor.who for carrier in carriers}
    places = [stance_of(carrier.actor.body, carrier.actor.pose) for carrier in carriers]
    columns = columns_of(world, now, [T[:2, 3], *(p for p, _ in places), *(g[:2, 3] for g in goals)], without=[thing])
    for who, motion in world.characters.items():
        if who not in people and isinstance(motion.body, Character):
            # people who walk are passed in time
            rests = [max(now, motion.span[1]), *([] if under_way(world, who, now) else [now])]
            for at in motion.sample(rests)[0]:
                columns = columns.with_disc(at[:2], 0.5 * envelope(motion.body, "forward").width)
    sways = _SWAYS_M if len(carriers) + len(robots) > 1 else _SWAYS_ALONE_M
    bearers: list[Bearer] = []
    spans: list[tuple[float, ...]] = []
    for carrier, held, (place, heading) in zip(carriers, grips, places, strict=True):
        body = carrier.actor.body
        joints = body.skeleton.at(carrier.actor.pose)
        targets = held.targets(carrier.actor, np.eye(4))
        room = columns.room(LOW_M, TRUNK * body.height)
        hands, shoulders, reach = [], [], []
        for hand in held.grasps:
            ik = LimbIK(body, f"{hand}_arm")
            path = joints[ik.joints[0], :3, 3] - np.array([*place, columns.floor])
            shoulders.append([path[:2] @ leftwards(heading), -path[:2] @ facing(heading), path[2]])
            hands.append(targets[f"{hand}_hand"][:3, 3])
            reach.append([_FOLDED * ik.reach[1], ik.reach[1] + _LEANS_M])
            above = float((T[:3, :3] @ targets[f"{hand}_hand"][:3, 3])[2])
            spans.append(tuple(share * body.height - above + columns.floor for share in _HANDS))
        stance = np.array([*(place - T[:2, 3]), heading])
        radius = max(envelope(body, "forward").trunk[:3]) + _BESIDE_M
        elbows = _ELBOWS * body.height
        elbow_room = columns.room(*(share * body.height for share in _ELBOW_BAND))
        bearers.append(
            Bearer(
                stance,
                np.array(hands),
                np.array(shoulders),
                np.array(reach),
                radius,
                room,
                elbow_room,
                elbows,
                _DEPTH * body.height,
                ceiling=columns.ceiling(TRUNK * body.height, body.height),
                back=steps_back(carrier, held, T, sways),
            )
        )
    bearers += [_robot_bearer(robot, T, columns) for robot in robots]
    floor = FloorCells(columns.origin, CELL_M, open_cells([b.room for b in bearers], columns.origin, CELL_M),
                  narrow_places(bearers[0].room < _SHELL_M, columns.origin, CELL_M, _WIDEST_M, 1))  # fmt: skip
    lows, usual, highs = np.array(spans).T
    low, high = sorted((float(lows.max()), float(highs.min())))
    heights = (low, float(np.clip(usual.mean(), low, high)), high)
    mesh = world.objects[thing].mesh
    balls = mesh_cover(mesh)[:, :4]
    size = float(np.linalg.norm(mesh.bounds[1] - mesh.bounds[0]))
    flat = (mesh.vertices @ T[:3, :3].T)[:, :2]
    outline = np.concatenate([0.5 * (flat.max(axis=0) + flat.min(axis=0)), 0.5 * np.ptp(flat, axis=0)])
    return TeamSpace(tuple(bearers), floor, grouped(balls), outline, _scene(world, thing, now), T[:3, :3], heights,
                     max(0.4 * size, 0.4), columns.floor, _MARGIN_M, tilts)  # fmt: skip


def _robot_bearer(robot: RobotCarrier, T: Array, columns: Columns) -> Bearer:
    """Robot carrier of a team's space, with the object at a placement (4, 4)."""
    place, heading = robot.place
    _, frames = robot.ik.grips(robot.values[None])
    shoulder = frames[0, 1, :3, 3]
    base = [shape_mesh(shape).vertices for shape in robot.robot.shapes if shape.joint == 0]
    corners = np.concatenate([*base, np.zeros((1, 3))])
    radius = float(np.linalg.norm(corners[:, :2], axis=1).max()) + _BESIDE_ROBOT_M
    room = columns.room(LOW_M, max(float(corners[:, 2].max()), shoulder[2]))
    longest = robot.ik.longest
    off = float(np.linalg.norm(shoulder[:2]))
    reach = np.array([[_FOLDED * longest, _STRETCHED * longest - off]])
    gait: Literal["rolls", "slides"] = "rolls" if robot.robot.drive == "differential" else "slides"
    return Bearer(
        np.array([*(place - T[:2, 3]), heading]), robot.T_thing_grip[None, :3, 3], np.array([[0.0, 0.0, shoulder[2]]]),
        reach, radius, room, room, 0.0, _DEPTH_ROBOT_M, gait,
    )  # fmt: skip


def _scene(world: World, thing: str, now: float) -> Fields | None:
    """Distance field of everything but people and the object, as it is now; None where there is nothing."""
    meshes = dict(world.static)
    meshes |= {name: o.mesh.moved(np.asarray(o.path(now))) for name, o in world.things.items() if name != thing}
    found = scene_field(ExactWorld(World(static=meshes, floor=world.floor)).static) if meshes else None
    return None if found is None else found.arrays
