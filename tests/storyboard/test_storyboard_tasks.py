"""Tasks of a storyboard: each verb is read, and what cannot be meant is told with its line."""

from __future__ import annotations

import dataclasses
import math
import re

import pytest

from conftest import ROOT
from elbowroom.errors import BadFile
from elbowroom.plan.tasks import (
    Carry,
    Close,
    Drop,
    Fetch,
    Follow,
    Go,
    Grab,
    Handover,
    HoldOut,
    Move,
    Open,
    Press,
    Put,
    Reach,
    Regrasp,
    Repair,
    Rest,
    Task,
    Touch,
    verbs,
)
from elbowroom.storyboard.storyboard import parse_storyboard
from elbowroom.storyboard.verbs import TaskPart

ROOM = """elbowroom: 1
fps: 30
scene: {floor: 0, meshes: [{box: [1, 1, 0.7], name: table, at: [0, -1, 0.35]}]}
objects:
  cup: {mesh: {cylinder: {radius: 0.04, height: 0.1}}, at: [0, -0.7, 0.75], frames: {rim: {at: [0, 0, 0.05]}}}
  hat: {mesh: {sphere: 0.1}, at: [0.5, -0.7, 0.8], grasps: {brim: {hand: left, at: [0.1, 0, 0]}}}
  stick: {mesh: {box: [0.02, 0.02, 0.5]}}
fixtures:
  drawer: {mesh: {box: [0.4, 0.4, 0.1]}, at: [2, 0, 0.5], slides: {axis: [0, -1, 0], range: [0, 0.4]}}
  door: {mesh: {box: [0.8, 0.04, 2]}, at: [-2, 0, 1], turns: {axis: [0, 0, 1], range: [0, 110]}}
  button: {mesh: {box: [0.03, 0.02, 0.03]}, at: [1, 1, 1.2], slides: {axis: [0, 1, 0], range: [0, 0.01]}}
characters:
  ann: {body: {human: {skin: false}}, clip: {idle: {seconds: 4}}}
  bob: {body: {human: {skin: false}}, at: [3, 3]}
holds: [{object: stick, by: ann, hand: left, during: [0, 2]}]
tasks:
"""
FIRST = ROOM.count("\n") + 1  # line of the first task


def tasks(*lines: str) -> tuple[Task, ...]:
    return parse_storyboard(ROOM + "".join(f"  - {line}\n" for line in lines), "room.yaml").tasks


def test_every_verb_becomes_its_task():
    found = tasks(
        "reach: {who: ann, to: [0.3, -0.4, 1.2], hand: left, begin: 0.2, at: 1, back: 2.5, shape: point}",
        "reach: {who: ann, to: cup.rim}",
        "grab: {who: ann, object: cup, hand: right, at: 2.1}",
        "put: {who: ann, object: cup, to: [0.2, -0.8, 0.75], turn: 90}",
        "grab: {who: ann, object: hat, grasp: brim}",
        "put: {who: ann, object: hat, onto: bob.head}",
        "hold: {who: ann, object: stick, toward: up, seconds: 2}",
        "drop: {who: ann, object: stick, over: table, height: 0.2, priority: 1}",
        "grab: {who: ann, object: cup}",
        "regrasp: {who: ann, object: cup, hand: left}",
        "handover: {who: ann, object: cup, to: bob}",
        "touch: {who: bob, target: ann.head, foot: left}",
        "press: {who: bob, fixture: door, to: 5}",
        "open: {who: bob, fixture: drawer, to: 0.25, at: 60}",
        "close: {who: bob, fixture: door}",
        "rest: {who: bob, hand: right}",
        "repair: {who: ann}",
        "move: {who: bob, object: hat, onto: table, turn: 90, posture: squat, helpers: [ann]}",
        "move: {who: bob, object: hat, onto: table, feet: [[1.1, 2, 90], [1, 2, 60]]}",
        "carry: {who: [bob, ann], object: hat, onto: table, level: false, speed: 0.6, tries: 3}",
        "go: {who: ann, to: [2, -1], facing: 90, gait: brisk, at: 9}",
        "fetch: {who: ann, object: cup, onto: table}",
        "follow: {who: bob, whom: ann, distance: 2}",
    )
    assert found == (
        Reach(who="ann", to=(0.3, -0.4, 1.2), hand="left", begin=0.2, at=1.0, back=2.5, shape="point"),
        Reach(who="ann", to="cup.rim"),
        Grab(who="ann", object="cup", hand="right", at=2.1),
        Put(who="ann", object="cup", to=(0.2, -0.8, 0.75), turn=math.pi / 2),
        Grab(who="ann", object="hat", grasp="brim", hand="left"),
        Put(who="ann", object="hat", onto="bob.head"),
        HoldOut(who="ann", object="stick", toward="up", seconds=2.0),
        Drop(who="ann", object="stick", over="table", height=0.2, priority=1),
        Grab(who="ann", object="cup"),
        Regrasp(who="ann", object="cup", hand="left"),
        Handover(who="ann", object="cup", to="bob"),
        Touch(who="bob", target="ann.head", foot="left"),
        Press(who="bob", fixture="door", to=math.radians(5)),
        Open(who="bob", fixture="drawer", to=0.25, at=60.0),
        Close(who="bob", fixture="door"),
        Rest(who="bob", hand="right"),
        Repair(who="ann"),
        Move(who="bob", object="hat", onto="table", turn=math.radians(90.0), posture="squat", helpers=("ann",)),
        Move(who="bob", object="hat", onto="table", feet=((1.1, 2, math.pi / 2), (1, 2, math.pi / 3))),
        Carry(who="bob", helpers=("ann",), object="hat", onto="table", level=False, speed=0.6, tries=3),
        Go(who="ann", to=(2.0, -1.0), facing=math.pi / 2, gait="brisk", at=9.0),
        Fetch(who="ann", object="cup", onto="table"),
        Follow(who="bob", whom="ann", distance=2.0),
    )
    assert {type(task) for task in found} == set(verbs().values())


# Lines of tasks, the one to blame, and what is said of it.
WRONG = {
    "unknown verb": (["grap: {who: ann}"], 0, r"tasks\[0\].grap: is not a verb; did you mean 'grab'? available: "),
    "a walk to nowhere": (["go: {who: ann, to: tabel}"], 0, "unknown place 'tabel': did you mean 'table'"),
    "a walk to oneself": (["go: {who: ann, to: ann}"], 0, "ann cannot walk to ann"),
    "an unknown gait": (["go: {who: ann, to: table, gait: hop}"], 0, r"tasks\[0\].go.gait"),
    "follow oneself": (["follow: {who: ann, whom: ann}"], 0, "'ann' cannot follow 'ann'"),
    "fetch at a time": (["fetch: {who: ann, object: cup, onto: table, at: 2}"], 0, "takes no 'at'"),
    "one footprint": (
        ["move: {who: bob, object: hat, onto: table, feet: [[1, 2, 3]]}"],
        0,
        "must have at least 2 items",
    ),
    "no such feet": (["move: {who: bob, object: hat, onto: table, feet: walk}"], 0, "must be 'auto' or 'stay'"),
    "footprints of helpers": (
        ["move: {who: bob, object: hat, onto: table, helpers: [ann], feet: [[1, 2, 3], [1, 2, 3]]}"],
        0,
        "cannot be combined with 'helpers'",
    ),
    "carry at a time": (["carry: {who: ann, object: cup, onto: table, at: 2}"], 0, "takes no 'at'"),
    "carry by nobody known": (["carry: {who: [ann, tim], object: cup, onto: table}"], 0, "unknown character 'tim'"),
    "no verb": (["{}"], 0, r"tasks\[0\]: has no verb; give one of reach, grab, "),
    "two verbs": (["{rest: {who: ann}, grab: {who: ann, object: cup}}"], 0, "has 2 verbs"),
    "verb alone": (["rest:"], 0, "has no verb"),
    "a word": (["rest"], 0, "must have keys, not 'rest'"),
    "unknown argument": (["grab: {who: ann, objet: cup}"], 0, "grab.objet: is not a key of this part; did you mean"),
    "missing argument": (["rest: {}", "grab: {who: ann}"], 0, r"tasks\[0\].rest: has no 'who'"),
    "unknown person": (["rest: {who: anne}"], 0, "rest.who: unknown character 'anne': did you mean 'ann'?"),
    "unknown object": (
        ["grab: {who: ann, object: cub}"],
        0,
        "object 'cub': did you mean 'cup'.*available: cup, hat, st",
    ),
    "mesh as object": (["grab: {who: ann, object: table}"], 0, "is a mesh of the scene; list it under 'objects'"),
    "fixture as object": (["grab: {who: ann, object: door}"], 0, "is a fixture"),
    "other hand's grasp": (
        ["grab: {who: ann, object: hat, grasp: brim, hand: right}"],
        0,
        "grab.grasp: 'brim' is a grasp for the left hand; use that hand",
    ),
    "unknown fixture": (
        ["open: {who: ann, fixture: cup}"],
        0,
        "unknown fixture 'cup': available: drawer, door, button",
    ),
    "third hand": (["grab: {who: ann, object: cup, hand: third}"], 0, "hand: must be 'left' or 'right', not 'third'"),
    "after the clip": (
        ["rest: {who: bob, at: 9}", "rest: {who: ann, at: 9000}"],
        1,
        "rest.at: 9000 s is outside .* 0 to 600 s",
    ),
    "before the clip": (["rest: {who: ann, at: -1}"], 0, "at: must be greater than or equal to 0"),
    "back after the clip": (
        ["touch: {who: ann, target: cup, at: 2, back: 5000}"],
        0,
        "touch.back: 5000 s is outside .* 0 to 600 s; give a time inside it",
    ),
    "begins too late": (
        ["touch: {who: ann, target: cup, begin: 2, at: 1}"],
        0,
        "touch.at: 'at' is 1 s, and 'begin' 2 s; it must come after 'begin'",
    ),
    "back too early": (
        ["touch: {who: ann, target: cup, at: 2, back: 2}"],
        0,
        "touch.back: 'back' is 2 s, and 'at' 2 s; it must come after 'at'",
    ),
    "not a time": (["rest: {who: ann, at: soon}"], 0, "at: must be a number, not 'soon'"),
    "NaN": (["reach: {who: ann, to: [0, .nan, 1]}"], 0, r"reach.to\[1\]: must be a finite number, not nan"),
    "short point": (["reach: {who: ann, to: [0, 1]}"], 0, "reach.to: must have at least 3 items, not 2"),
    "place": (["reach: {who: ann, to: 5}"], 0, "reach.to: cannot be 5; it takes a list or text"),
    "unknown place": (
        ["reach: {who: ann, to: cap}"],
        0,
        "reach.to: unknown object or character 'cap': did you mean 'cup'",
    ),
    "unknown frame": (["touch: {who: ann, target: cup.ear}"], 0, "target: unknown frame 'ear': available: rim"),
    "unknown part": (["touch: {who: ann, target: bob.tail}"], 0, "target: unknown body part of .* 'tail'"),
    "mesh as place": (["touch: {who: ann, target: table}"], 0, "give a point on it"),
    "shape": (["reach: {who: ann, to: cup, shape: fist}"], 0, "shape: must be 'rest', 'flat'.* not 'fist'"),
    "too far open": (
        ["open: {who: ann, fixture: door, to: 120}"],
        0,
        "to: 120 is out of range; 'door' goes from 0 to 110",
    ),
    "nowhere": (["put: {who: ann, object: stick}"], 0, "put: needs exactly one of 'to' and 'onto'; none is given"),
    "two places": (["put: {who: ann, object: stick, to: [0, 0, 1], onto: table}"], 0, "both are given"),
    "onto nothing": (["put: {who: ann, object: stick, onto: tabel}"], 0, "unknown surface .*did you mean 'table'"),
    "onto a wrong frame": (["put: {who: ann, object: stick, onto: cup.ear}"], 0, "onto: unknown frame 'ear'"),
    "onto itself": (["put: {who: ann, object: stick, onto: stick}"], 0, "onto itself"),
    "one hand, one time": (
        ["grab: {who: ann, object: cup, hand: right, at: 2}", "grab: {who: ann, object: hat, hand: right, at: 2.01}"],
        1,
        rf"at: the right hand of ann is busy at 2.01 s with the task on line {FIRST}; give another time",
    ),
    "three at a time": (
        ["rest: {who: ann, at: 2}", "rest: {who: ann, at: 2}", "rest: {who: ann, at: 2}"],
        2,
        "the hands of ann are busy at 2 s with the task on line",
    ),
    "put before it is taken": (
        ["grab: {who: ann, object: cup, at: 3}", "put: {who: ann, object: cup, onto: table, at: 2}"],
        1,
        "object: ann does not hold 'cup' at that time; grab it first",
    ),
    "put twice": (
        ["grab: {who: ann, object: cup}", *["put: {who: ann, object: cup, onto: table}"] * 2],
        2,
        "does not hold 'cup' at that time",
    ),
    "put by another": (
        ["grab: {who: ann, object: cup}", "put: {who: bob, object: cup, onto: floor}"],
        1,
        "bob does not",
    ),
    "put after a hold": (
        ["put: {who: ann, object: stick, onto: table, at: 3}"],
        0,
        "ann does not hold 'stick' at that time",
    ),
    "hand and foot": (["touch: {who: ann, target: cup, hand: left, foot: left}"], 0, "is given together with 'hand'"),
    "one foot, one time": (
        ["touch: {who: ann, target: cup, foot: left, at: 2}", "touch: {who: ann, target: hat, foot: left, at: 2}"],
        1,
        "at: the left foot of ann is busy at 2 s with the task on line",
    ),
    "hands that overlap": (
        [
            "touch: {who: ann, target: cup, hand: right, begin: 0.5, at: 1, back: 2.5}",
            "touch: {who: ann, target: hat, hand: right, begin: 2, at: 3}",
        ],
        1,
        "the right hand of ann is busy at 3 s with the task on line",
    ),
    "while it is held out": (
        ["hold: {who: ann, object: stick, hand: left, at: 1}", "touch: {who: ann, target: cup, hand: left, at: 1.5}"],
        1,
        "the left hand of ann is busy at 1.5 s with the task on line",
    ),
    "given away": (
        [
            "grab: {who: ann, object: cup}",
            "handover: {who: ann, object: cup, to: bob}",
            "drop: {who: ann, object: cup}",
        ],
        2,
        "drop.object: ann does not hold 'cup' at that time; grab it first",
    ),
    "given to nobody": (
        ["handover: {who: ann, object: stick, to: bop}"],
        0,
        "to: unknown character 'bop': did you mean",
    ),
    "given to oneself": (
        ["handover: {who: ann, object: stick, to: ann}"],
        0,
        "to: ann cannot hand anything over to ann",
    ),
    "dropped over nothing": (["drop: {who: ann, object: stick, over: tabel}"], 0, "over: unknown surface .* 'table'"),
    "falls from nowhere": (["drop: {who: ann, object: stick, height: 1}"], 0, "height: needs 'over'.*; add it"),
    "held out twice": (
        ["hold: {who: ann, object: stick, to: cup, toward: left}"],
        0,
        "toward: is given together with 'to'; keep one",
    ),
    "priority": (["rest: {who: ann, priority: high}"], 0, "priority: must be a whole number, not 'high'"),
    "a list of verbs is a list": (["[grab]"], 0, "must have keys, not a list"),
}


@pytest.mark.parametrize(("lines", "blamed", "said"), WRONG.values(), ids=WRONG.keys())
def test_the_line_of_a_task_is_named(lines: list[str], blamed: int, said: str):
    with pytest.raises(BadFile, match=said.replace("?", r"\?")) as caught:
        tasks(*lines)
    told = str(caught.value)
    assert told.startswith(f"room.yaml, line {FIRST + blamed}: ") and "\n" not in told and told.endswith(".")


def test_what_might_be_meant_is_left_to_the_planner():
    tasks("put: {who: ann, object: stick, onto: table, at: 1.5}")  # held from the start
    tasks("put: {who: ann, object: stick, onto: floor}")
    tasks("grab: {who: ann, object: cup, hand: left, at: 2}", "grab: {who: ann, object: hat, hand: right, at: 2}")
    tasks("grab: {who: ann, object: cup, at: 2}", "touch: {who: ann, target: hat, at: 2}")
    tasks("put: {who: ann, object: cup, onto: table, at: 3}", "grab: {who: ann, object: cup, at: 1}")  # times decide


def test_hands_and_feet_may_be_busy_at_one_time():
    tasks("touch: {who: ann, target: cup, foot: left, at: 2}", "touch: {who: ann, target: hat, hand: left, at: 2}")
    tasks(
        "grab: {who: bob, object: cup}",
        "handover: {who: bob, object: cup, to: ann}",
        "put: {who: ann, object: cup, onto: table}",
    )
    tasks(
        "touch: {who: ann, target: cup, hand: right, at: 1, back: 2}",
        "touch: {who: ann, target: hat, hand: right, begin: 2.1, at: 3}",
    )


def test_verbs_have_the_arguments_of_their_tasks():
    for verb, kind in verbs().items():
        part = TaskPart.model_fields[verb].annotation.__args__[0]
        # they take what they need, when they need it
        hands = {"hand", "begin", "back", "feet"}
        walks = hands | {"planner", "support"}
        unasked = {"repair": walks | {"at"}, "go": walks, "follow": walks}.get(verb, set())
        wanted = {f.name: f.default for f in dataclasses.fields(kind) if f.name not in unasked}
        defaults = {n: dataclasses.MISSING if f.is_required() else f.default for n, f in part.model_fields.items()}
        defaults = {n: tuple(v) if isinstance(v, list) else v for n, v in defaults.items()}
        assert defaults == wanted, verb


def test_the_examples_of_the_docs_are_tasks():
    page = (ROOT / "docs" / "storyboard.md").read_text()
    block = page.split("## tasks")[1].split("```yaml\n")[1].split("```")[0]
    shown = set(re.findall(r"^  - (\w+):", block, re.MULTILINE))
    assert shown == set(verbs()) <= set(TaskPart.model_fields)
    found = parse_storyboard(ROOM + block.removeprefix("tasks:\n"), "room.yaml").tasks
    assert {task.verb for task in found} == shown
