"""Random tasks as storyboards: somebody stands before furniture with objects on it and is to do one thing there.

Task number `index` of a seed is always the same. Bodies and kinds of tasks take turns; all else is drawn.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from elbowroom.character.human import PRESETS
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import place
from elbowroom.props.makers import made
from elbowroom.props.shelves import BOARD, board_top
from elbowroom.storyboard.storyboard import Storyboard, parse_storyboard
from elbowroom.world.exact import ExactWorld

DATA = Path(os.environ.get("ELBOWROOM_DATA") or Path(__file__).resolve().parent.parent.parent / "shared" / "data")
WHO, THING = "ann", "thing"
KINDS = ("grab", "put", "reach", "grab", "touch", "put", "press", "grab", "put")
# Rigs from files beside the presets; their turns are left out where the files are absent.
RIGS = ("rocketbox_male_adult_01.glb", "quaternius_worker.glb")
BODIES = (*PRESETS, *RIGS)

# What a hand can take.
TAKEN = (
    "mug",
    "jar",
    "bottle",
    "tin",
    "carton",
    "ball",
    "apple",
    "book",
    "cube",
    "box_with_lid",
    "cheese",
    "pen_cup",
    "vase",
)
# What stands around it.
CLUTTER = (
    "mug", "jar", "bottle", "tin", "carton", "bowl", "pot_plant", "vase", "book_stack", "globe", "basket", "pen_cup",
    "kettle", "loaf", "plate", "desk_lamp", "monitor", "picture", "herbs", "apple",
)  # fmt: skip
BESIDE = ("stool", "floor_lamp", "plant", "chair", "wardrobe")

# A thing stands this far above what carries it, metres, as in the gallery.
LIFT_M = 0.0003
IDLE_S = 8.0
# Metres that somebody who begins away from a task is away at least, and radians to the side.
NEAREST_M, ASIDE_RAD = 0.8, 1.1
# How far somebody who idles stays away from everything, metres; how they step back for that, and how often.
CLEAR_M = 0.015
BACK_M, BACK_TIMES = 0.03, 15


@dataclass(frozen=True)
class Level:
    """A surface to stand things on: half its width, front and back edge, height, and what is free above, metres."""

    half: float
    front: float
    back: float
    top: float
    room: float = 2.0


@dataclass
class Scene:
    """What is drawn so far: the storyboard as plain values, and discs (x, y, radius) that are taken on each level."""

    rng: np.random.Generator
    meshes: list[dict[str, Any]] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)
    taken: dict[int, list[tuple[float, float, float]]] = field(default_factory=dict)

    def between(self, low: float, high: float) -> float:
        """A number to a millimetre."""
        return round(float(self.rng.uniform(low, high)), 3)

    def one_of(self, names: tuple[str, ...]) -> str:
        """One of several names."""
        return names[int(self.rng.integers(len(names)))]

    def free(self, level: int, x: float, y: float, radius: float) -> bool:
        """Whether a disc lies on a level and meets no other."""
        board = self.levels[level]
        inside = abs(x) + radius <= board.half and board.front + radius <= y <= board.back - radius
        others = self.taken.get(level, [])
        return inside and all(np.hypot(x - a, y - b) > radius + r + 0.005 for a, b, r in others)


def task(index: int, seed: int = 0, away: float = 0.0) -> Storyboard | None:
    """Task number `index`, begun up to so many metres `away`; None where its body is a rig from an absent file."""
    body = BODIES[index % len(BODIES)]
    if body in RIGS and not (DATA / "characters" / body).is_file():
        return None
    told = values(index, seed)
    if away > 0.0:
        rng, person = np.random.default_rng([seed, index, 3]), told["characters"][WHO]
        far, aside = rng.uniform(NEAREST_M, away), rng.uniform(-ASIDE_RAD, ASIDE_RAD)
        x, y = person["at"]
        person["at"] = [round(x + far * np.sin(aside), 3), round(y - far * np.cos(aside), 3)]
        person["turn"] = round(float(rng.uniform(-180.0, 180.0)), 1)
    return board_of(told, index)


def values(index: int, seed: int = 0) -> dict[str, Any]:
    """The storyboard of a task as plain values, with somebody who may stand too near yet."""
    scene = Scene(np.random.default_rng([seed, index]))
    kind, body = KINDS[index % len(KINDS)], BODIES[index % len(BODIES)]
    furniture = _furniture(scene)
    level = int(scene.rng.integers(len(scene.levels)))
    board: dict[str, Any] = {"elbowroom": 1, "about": f"{kind}, {body}, {furniture}", "fps": 60}
    spot, name, size = _subject(scene, kind, level, board)
    _clutter(scene, level, spot)
    goal = _goal(scene, size, spot, level) if kind == "put" else None
    x, front = spot[0] + scene.between(-0.25, 0.25), min(board.front for board in scene.levels)
    at = [round(x, 3), round(front - scene.between(0.22, 0.42), 3)]
    turn = round(180.0 + scene.between(-25.0, 25.0), 1)
    _beside(scene, at)
    source = {"file": str(DATA / "characters" / body)} if body in RIGS else {"preset": body}
    board["scene"] = {"floor": 0.0, "meshes": scene.meshes}
    board["characters"] = {WHO: {"body": source, "clip": {"idle": {"seconds": IDLE_S}}, "at": at, "turn": turn}}
    hand = {"hand": scene.one_of(("left", "right"))} if scene.rng.random() < 0.25 else {}
    board["tasks"] = _tasks(scene, kind, name, spot, goal, hand)
    return board


def board_of(values: dict[str, Any], index: int = 0) -> Storyboard:
    """The storyboard, its person so far back that nothing touches at the start.

    What stands beside is left out where that leaves no room for somebody as broad as a gorilla.
    """
    board = _parsed(values, index)
    person = values["characters"][WHO]
    step = next((k for k in range(BACK_TIMES) if _free_at_start(board, k * BACK_M)), None)
    if step is None:
        scene = values["scene"]
        alone = [mesh for mesh in scene["meshes"] if not mesh["name"].startswith("beside_")]
        assert len(alone) < len(scene["meshes"]), f"task {index} has no free start"
        return board_of({**values, "scene": {**scene, "meshes": alone}}, index)
    if step:
        person["at"] = [person["at"][0], round(person["at"][1] - step * BACK_M, 3)]
        board = _parsed(values, index)
    return board


def _parsed(values: dict[str, Any], index: int) -> Storyboard:
    return parse_storyboard(json.dumps(values), f"random-{index}.yaml")


def _free_at_start(board: Storyboard, back: float) -> bool:
    """Whether somebody who idles farther back stays clear of all but the ground and themselves."""
    clip = board.world.motion(WHO)
    assert isinstance(clip, Clip)
    world = board.world.with_character(WHO, place(clip, (0.0, -back)))
    exact = ExactWorld(world)
    mine = np.array([part.owner == WHO for part in exact.parts])[exact.index]
    grounded = np.array([part.kind == "floor" for part in exact.parts])[exact.index].any(axis=1)
    others = np.flatnonzero(mine.any(axis=1) & ~mine.all(axis=1) & ~grounded)
    for t in np.arange(0.0, IDLE_S, 0.5):
        for k in exact.place(float(t)).near(CLEAR_M, others):
            value = exact.distance(int(k), CLEAR_M).value
            if value is None or value < CLEAR_M:
                return False
    return True


def _furniture(scene: Scene) -> str:
    """Stand furniture at the origin, its front to -Y, and note its levels."""
    name = scene.one_of(("desk", "table", "trestle_table", "counter", "bookcase", "low_shelf"))
    options: dict[str, Any]
    if name == "bookcase":
        options = {
            "width": scene.between(0.8, 1.1),
            "height": scene.between(1.7, 2.0),
            "depth": scene.between(0.26, 0.34),
        }
        options["levels"] = int(scene.rng.integers(4, 6))
        half, deep = 0.5 * options["width"] - BOARD, 0.5 * options["depth"]
        tops = [board_top(k, options["height"], options["levels"]) for k in range(options["levels"] + 1)]
        room = tops[1] - tops[0] - BOARD
        scene.levels = [Level(half, -deep, deep - 0.015, top, room) for top in tops[1:-1] if 0.35 < top < 1.6]
    elif name == "low_shelf":
        options = {
            "width": scene.between(0.8, 1.2),
            "height": scene.between(0.7, 0.85),
            "depth": scene.between(0.3, 0.4),
        }
        options["board"] = scene.between(0.3, 0.38)
        half, deep = 0.5 * options["width"] - 0.03, 0.5 * options["depth"]
        under = options["height"] - 0.03 - options["board"]
        scene.levels = [
            Level(half, -deep, deep - 0.015, options["board"], under),
            Level(half, -deep, deep, options["height"]),
        ]
    else:
        tall = {"counter": (0.86, 0.94)}.get(name, (0.68, 0.78))
        options = {"width": scene.between(1.2, 1.7), "depth": scene.between(0.5, 0.8), "height": scene.between(*tall)}
        deep = 0.5 * options["depth"]
        scene.levels = [Level(0.5 * options["width"], -deep, deep, options["height"])]
        if name == "counter":
            _wall(scene, options)
    scene.meshes.append({"maker": name, "options": options, "name": name})
    return name


def _wall(scene: Scene, counter: dict[str, Any]) -> None:
    """Stand a wall behind a counter, mostly with a board on it."""
    deep = 0.5 * counter["depth"]
    scene.meshes.append({"maker": "wall", "options": {"width": counter["width"]}, "name": "wall", "at": [0, deep, 0]})
    if scene.rng.random() < 0.7:
        wide, top = scene.between(0.7, 1.1), scene.between(1.25, 1.5)
        at = [0, deep, top]
        scene.meshes.append({"maker": "wall_board", "options": {"width": wide}, "name": "wall_board", "at": at})
        low = scene.levels[0]
        # brackets reach down to 0.2 m under the board
        scene.levels = [Level(low.half, low.front, low.back, low.top, top - 0.23 - low.top)]
        scene.levels.append(Level(0.5 * wide, deep - 0.26, deep - 0.01, top, 0.6))


def _size(name: str, options: dict[str, Any]) -> tuple[float, float]:
    """Radius of a mesh about its origin, seen from above, and its height, metres."""
    points = np.concatenate([mesh.vertices for mesh in made(name, options).values()])
    return float(np.hypot(points[:, 0], points[:, 1]).max()), float(points[:, 2].max())


def _lowest(name: str, options: dict[str, Any]) -> float:
    """Height of the lowest point of a mesh, metres: a cube's origin is its middle."""
    return float(min(mesh.vertices[:, 2].min() for mesh in made(name, options).values()))


def _spot(scene: Scene, level: int, radius: float) -> tuple[float, float, float]:
    """A place near the front of a level that is free for a disc; the front's middle where none is found."""
    board = scene.levels[level]
    x, y = 0.0, board.front + radius
    for _ in range(200):
        x, y = scene.between(-0.8 * board.half, 0.8 * board.half), board.front + scene.between(0.04, 0.45)
        if scene.free(level, x, y, radius):
            break
    scene.taken.setdefault(level, []).append((x, y, radius))
    return x, round(y, 3), round(board.top + LIFT_M, 5)


def _subject(
    scene: Scene, kind: str, level: int, board: dict[str, Any]
) -> tuple[tuple[float, float, float], str, tuple[float, float]]:
    """What the task is about: where it is, its name, and its size (radius, height); it is added to the storyboard."""
    if kind == "press":
        return _button(scene, level, board), "button", (0.06, 0.03)
    maker, options = _drawn(scene, TAKEN, scene.levels[level].room - 0.06)
    size = _size(maker, options)
    x, y, z = _spot(scene, level, size[0])
    spot = x, y, round(z - _lowest(maker, options), 5)
    thing: dict[str, Any] = {"mesh": {"maker": maker, "options": options}, "at": list(spot), "mass": 0.4}
    thing["turn"] = scene.between(-180.0, 180.0)
    if scene.rng.random() < 0.4:
        thing["freedom"] = "level"
    if kind != "reach":
        board["objects"] = {THING: thing}
    return spot, THING, size


def _drawn(scene: Scene, names: tuple[str, ...], room: float) -> tuple[str, dict[str, Any]]:
    """A maker with options that is no higher than a room; an apple fits everywhere."""
    for _ in range(50):
        name, options = scene.one_of(names), {}
        if name in ("mug", "tin", "jar", "bottle"):
            options = {
                "radius": {"mug": 0.039, "tin": 0.042, "jar": 0.037, "bottle": 0.034}[name] * scene.between(0.85, 1.15)
            }
            options["radius"] = round(options["radius"], 4)
        if name == "book":
            options = {"thickness": scene.between(0.02, 0.05), "height": scene.between(0.18, 0.26)}
        if name == "vase":
            options = {"height": scene.between(0.16, 0.24), "radius": scene.between(0.035, 0.05)}
        if _size(name, options)[1] < room:
            return name, options
    return "apple", {}


def _button(scene: Scene, level: int, board: dict[str, Any]) -> tuple[float, float, float]:
    """A button on the wall behind a counter, or on top of a level; returns its place."""
    walls = [m for m in scene.meshes if m["maker"] == "wall"]
    slide = {"axis": [0, 1, 0], "range": [0, 0.006]}
    part = {"mesh": {"maker": "switch_button"}, "slides": slide, "handle": {"at": [0, -0.012, 0], "turn": -90}}
    if walls and scene.rng.random() < 0.6:
        y, top = walls[0]["at"][1], scene.levels[0].top
        x, z = scene.between(-0.5, 0.5), round(top + scene.between(0.08, 0.25), 3)
        plate, button, turn = [x, y, z], [x, round(y - 0.0085, 4), z], [0, 0, 0]
    else:
        x, y, z = _spot(scene, level, 0.065)
        plate, button, turn = [x, y, z], [x, y, round(z + 0.0085, 5)], [-90, 0, 0]
    scene.meshes.append({"maker": "switch_plate", "name": "plate", "at": plate, "turn": turn})
    board["fixtures"] = {"button": {**part, "at": button, "turn": turn}}
    return plate[0], plate[1], plate[2]


def _clutter(scene: Scene, level: int, spot: tuple[float, float, float]) -> None:
    """Stand objects around: half of them near the spot of the task, the others anywhere on any level."""
    for k in range(int(scene.rng.integers(1, 9))):
        on = level if k % 2 == 0 else int(scene.rng.integers(len(scene.levels)))
        board = scene.levels[on]
        maker, options = _drawn(scene, CLUTTER, board.room)
        radius = _size(maker, options)[0]
        for _ in range(40):
            if k % 2 == 0:
                way, far = scene.rng.uniform(-np.pi, np.pi), scene.between(0.06, 0.25) + radius
                x, y = spot[0] + far * np.cos(way), spot[1] + far * np.sin(way)
            else:
                x, y = scene.rng.uniform(-board.half, board.half), scene.rng.uniform(board.front, board.back)
            x, y = round(float(x), 3), round(float(y), 3)
            if scene.free(on, x, y, radius):
                scene.taken.setdefault(on, []).append((x, y, radius))
                place_, turn = [x, y, round(board.top + LIFT_M, 5)], scene.between(-180.0, 180.0)
                mesh = {"maker": maker, "options": options, "name": f"{maker}_{k}", "at": place_, "turn": turn}
                scene.meshes.append(mesh)
                break


def _goal(
    scene: Scene, size: tuple[float, float], spot: tuple[float, float, float], level: int
) -> tuple[float, float, float]:
    """Where to put it: on a level with room for it, 0.1 to 0.6 m to the side of where it was."""
    fits = [k for k, board in enumerate(scene.levels) if board.room > size[1] + 0.06]
    for _ in range(300):
        on = fits[int(scene.rng.integers(len(fits)))] if fits else level
        board = scene.levels[on]
        x, y = round(spot[0] + scene.between(-0.5, 0.5), 3), round(board.front + scene.between(0.04, 0.4), 3)
        far = np.hypot(x - spot[0], y - spot[1]) if on == level else 1.0
        if far > 0.1 and scene.free(on, x, y, size[0]):
            return x, y, round(board.top + spot[2] - scene.levels[level].top, 5)
    return spot


def _beside(scene: Scene, at: list[float]) -> None:
    """Stand something on the floor beside the person now and then."""
    if scene.rng.random() < 0.4:
        maker = scene.one_of(BESIDE)
        side = 1.0 if scene.rng.random() < 0.5 else -1.0
        x = round(at[0] + side * (scene.between(0.42, 0.7) + min(_size(maker, {})[0], 0.3)), 3)
        y = round(at[1] + scene.between(-0.4, 0.0), 3)
        for mesh in made(maker, {}):
            part = {"part": mesh} if maker == "plant" else {}
            place_ = {"at": [x, y, 0], "turn": scene.between(-180.0, 180.0) if maker != "wardrobe" else 0.0}
            scene.meshes.append({"maker": maker, "name": f"beside_{mesh}", **part, **place_})


def _tasks(
    scene: Scene,
    kind: str,
    name: str,
    spot: tuple[float, float, float],
    goal: tuple[float, float, float] | None,
    hand: dict[str, str],
) -> list[dict[str, Any]]:
    """What is asked for, as in a storyboard."""
    who = {"who": WHO, **hand}
    if kind == "put" and goal is not None:
        return [{"grab": {**who, "object": name}}, {"put": {"who": WHO, "object": name, "to": list(goal)}}]
    if kind == "reach":
        up = scene.between(0.06, 0.35)
        return [{"reach": {**who, "to": [spot[0], spot[1], round(spot[2] + up, 3)]}}]
    if kind == "touch":
        return [{"touch": {**who, "target": name}}]
    if kind == "press":
        return [{"press": {**who, "fixture": name}}]
    return [{"grab": {**who, "object": name}}]
