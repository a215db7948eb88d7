"""Carries that are impossible in their scene: too heavy, out of reach, or through too narrow a gap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.dynamics import GRIP_STRENGTH
from elbowroom.character.robot import Robot
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.departure import stance_of
from elbowroom.locomotion.envelope import envelope
from elbowroom.plan.teams.space import LOW_M, TRUNK
from elbowroom.posing.robot_ik import RobotArmIK
from elbowroom.spaces.team_scene import passage_width
from elbowroom.world.columns import CELL_M, columns_of
from elbowroom.world.world import World

# Height that hands above the head reach, share of the body's height (ANSUR II: 1.2 to 1.27 at the finger tips).
_OVERHEAD = 1.27
# Metres from an object's sides at which its carriers stand, and around these places and those of the start.
_BESIDE_M, _NEAR_M = 0.35, 0.8


def why_impossible(world: World, who: Sequence[str], thing: str, goal: Sequence[float] | None) -> str:
    """One sentence on why some carriers cannot carry an object from where it is to a goal (3,), '' where they may."""
    t = world.span[0]
    T, mesh = np.asarray(world.frame(thing, t)), world.objects[thing].mesh
    corners = mesh.vertices @ T[:3, :3].T
    people = {name: body for name in who if isinstance(body := world.body(name), Character)}
    why = _heavy(people, float(world.objects[thing].mass or 0.0), len(who), thing)
    why = why or _high(world, people, float(corners[:, 2].min() + T[2, 3]), thing)
    for name in who:
        body = world.body(name)
        if isinstance(body, Robot) and not why:
            why = _far(world, name, body, corners[:, :2] + T[:2, 3], thing)
    return why or ("" if goal is None else _narrow(world, people, corners[:, :2], T[:2, 3], np.array(goal), thing))


def _heavy(people: dict[str, Character], mass: float, count: int, thing: str) -> str:
    share = mass / count
    for name, body in people.items():
        most = np.inf if body.masses is None else 2.0 * GRIP_STRENGTH["power"] * body.masses.total
        if share > most:
            each = f" for {count} carriers is {share:.0f} kg each" if count > 1 else " is too heavy for one carrier"
            return (f"'{thing}' with {mass:g} kg{each}, and {name} holds at most {most:.0f} kg with both hands; "
                    "make it lighter or name more carriers")  # fmt: skip
    return ""


def _high(world: World, people: dict[str, Character], low: float, thing: str) -> str:
    for name, body in people.items():
        most = (0.0 if world.floor is None else world.floor) + _OVERHEAD * body.height
        if low > most:
            return f"'{thing}' is {low:.2f} m high, out of reach of {name}, who reaches {most:.2f} m; put it lower"
    return ""


def _far(world: World, name: str, body: Robot, flat: Array, thing: str) -> str:
    """The same for a robot, which holds an object with an outline among points (N, 2) from where it stands."""
    root, _ = world.motion(name).sample([world.span[0]])
    ik = RobotArmIK.of(body)
    shoulder = ik.grips(np.zeros((1, len(ik.run))))[1][0, 1, :3, 3]
    low, high = flat.min(axis=0), flat.max(axis=0)
    place = np.asarray(root[0][:2])
    far = float(np.linalg.norm(place - np.clip(place, low, high)))
    reach = ik.longest + float(np.linalg.norm(shoulder[:2]))
    if far <= reach:
        return ""
    return (f"'{thing}' is {far:.2f} m from {name}, out of reach of its arm of {reach:.2f} m, and robots take objects "
            "from where they stand; put it nearer")  # fmt: skip


def _narrow(world: World, people: dict[str, Character], flat: Array, start: Array, goal: Array, thing: str) -> str:
    """The same for people on the way to a goal (3,) of an object with an outline among points (N, 2) about its origin.

    It is the width that the carry's own search takes.
    """
    angles = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
    half = 0.5 * np.ptp(flat, axis=0)
    ring = np.concatenate([(r + _BESIDE_M) * np.column_stack([np.cos(angles), np.sin(angles)]) for r in half])
    places = {}
    for name, body in people.items():
        root, q = world.motion(name).sample([world.span[0]])
        places[name] = stance_of(body, Pose.of(root[0], q[0]))[0]
    columns = columns_of(world, world.span[0], [start, goal[:2], *places.values()], without=[thing])
    for name, body in people.items():
        needed = 2.0 * max(envelope(body, "forward").trunk[:3])
        room = columns.room(LOW_M, TRUNK * body.height)
        wide = passage_width(room, columns.origin, CELL_M, (places[name][None], goal[:2] + ring), _NEAR_M)
        if wide + CELL_M < needed:
            gap = f"{wide:.2f} m wide at its narrowest" if wide else "closed"
            return (f"the widest path of {name} to ({goal[0]:g}, {goal[1]:g}) is {gap}, and walking needs "
                    f"{needed:.2f} m; choose another goal or make room")  # fmt: skip
    return ""
