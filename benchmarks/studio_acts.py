"""All that can be done on the studio's page, each in any way at all; what cannot be seen on it cannot be done."""

from __future__ import annotations

import time

import numpy as np

from elbowroom.props.makers import MAKERS
from studio_client import Client
from studio_user import Facts, User, act

_TETRAHEDRON = b"v 0 0 0\nv .1 0 0\nv 0 .1 0\nv 0 0 .1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
_CHOICES = ("gallery: umbrella", "gallery: stroll", "counter.yaml", "counter.yaml", "new storyboard", "stress_0.yaml")
_BAD_NAMES = ("../../elsewhere.yaml", "/etc/passwd", "", "a\x00b.yaml", "nowhere/x.yaml", "x.exe", "x" * 400 + ".yaml")
_BAD_TIMES = ("soon", "-1", "1e99", "nan", "")
_SWITCHES = ("Ghost", "Hand paths", "Search trees", "Minimum clearance", "Collision geometry", "Dark", "Visible")
_LOOKS = ("Frame the action", "Go to minimum clearance")
# No more things and people than these, so that planning does not take longer and longer.
_THINGS, _PEOPLE, _TASKS = 8, 2, 4


# --- things


@act(3.0)
def select(user: User, facts: Facts) -> bool:
    return bool(facts["places"]) and user.client.press(user.one(facts["places"]))


@act(2.0)
def click(user: User, facts: Facts) -> bool:
    if not user.client.clickable:
        return False
    user.client.click(user.one(user.client.clickable))
    return True


@act(8.0)
def drag(user: User, facts: Facts) -> bool:
    """Drag what is selected, in steps, at times with a turn; at times something else comes in between."""
    if facts["selected"] is None:
        return False
    kind, home = facts["places"][facts["selected"]]
    flat = [1.0, 1.0, 1.0 if kind == "target" else 0.0]
    user.told, turns = facts["selected"], kind != "target" and user.chance(0.3)
    user.client.drag("Start")
    for _ in range(int(user.dice.integers(1, 12))):
        angle = user.dice.uniform(-0.5, 0.5) if turns else 0.0
        to = np.array(home) + user.dice.uniform(-0.15, 0.15, 3) * flat
        user.client.drag("Update", to, (np.cos(angle), 0.0, 0.0, np.sin(angle)))
        time.sleep(float(user.dice.choice([0.0, 0.01, 0.033])))
    if user.chance(0.1):
        meanwhile = user.one(["Undo …", "Redo …", "Play", facts["selected"], "reload", "Cancel"])
        if meanwhile == "reload":
            user.reconnect()
            return True
        user.client.press(meanwhile)
    user.client.drag("End")
    return True


@act(1.5)
def type_place(user: User, facts: Facts) -> bool:
    at, turn = user.client.find("Position (m)"), user.client.find("Rotation (°)")
    if at is None or facts["selected"] is None:
        return False
    if turn is not None and user.chance(0.4):
        return user.client.put("Rotation (°)", [0.0, 0.0, round(float(user.dice.uniform(-180, 180)), 1)])
    to = [round(x + float(user.dice.uniform(-0.2, 0.2)), 3) for x in at.value]
    return user.client.put("Position (m)", to if user.chance(0.95) else [1e9, -1e9, 1e9])


@act(1.0)
def add_thing(user: User, facts: Facts) -> bool:
    kind = user.one(["obstacle", "object", "character"])
    if len(facts["places"]) >= _THINGS or (kind == "character" and len(facts["people"]) >= _PEOPLE):
        return False
    user.client.put("Kind", kind, within="Add")
    time.sleep(0.1)  # the choices come after the kind
    what = user.one(["woman", "man", "child"] if kind == "character" else sorted(MAKERS))
    user.client.put("Model", what, within="Add")
    if kind == "character":
        user.client.put("Motion", user.one(["stand", "idle", "walk"]), within="Add")
    user.told = f"{kind} {what}"
    return user.client.press("Add", within="Add")


@act(1.0)
def delete_thing(user: User, facts: Facts) -> bool:
    return facts["selected"] is not None and user.client.press("Delete", within=facts["selected"])


@act(0.7)
def rename(user: User, facts: Facts) -> bool:
    name = facts["selected"]
    to = user.one(["it", "a b", "floor", "", "x.y", "post", "ann", f"{name}_"])
    return name is not None and user.client.put("Name", to, within=name) and user.client.press("Rename", within=name)


# --- tasks


@act(2.5)
def add_task(user: User, facts: Facts) -> bool:
    """Fill the form in any way, and add it."""
    if facts["tasks"] >= _TASKS or not user.client.press("+  New task"):
        return False
    time.sleep(0.05)
    fill_task(user, "New task")
    return user.client.press("Add", within="New task")


def fill_task(user: User, form: str) -> None:
    """Give fields of the form any values that can be chosen."""
    user.choose("Action", form)
    time.sleep(0.05)
    for label in ("Character", "Hand", "Object", "Target"):
        if user.chance(0.7):
            user.choose(label, form)
    when = round(float(user.dice.uniform(0.5, 3.0)), 2)
    user.client.put("Time (s)", user.one(_BAD_TIMES) if user.chance(0.3) else str(when), "Text")
    if user.chance(0.2):
        user.client.press("Use current time")


@act(2.0)
def change_task(user: User, facts: Facts) -> bool:
    k = int(user.dice.integers(facts["tasks"])) + 1 if facts["tasks"] else 0
    if k == 0 or not user.client.press(f"{k}  …", within="Tasks in order"):
        return False
    time.sleep(0.05)
    word = user.one(["Change", "Earlier", "Later", "Delete", "Delete"])
    if word == "Change":
        fill_task(user, f"Task {k}")
    return user.client.press(word, within=f"Task {k}")


@act(1.0)
def style(user: User, facts: Facts) -> bool:
    return user.choose("Style", "Planning")


@act(1.5)
def seed(user: User, facts: Facts) -> bool:
    return user.client.put("Seed", float(user.one([0, 1, 2, 3, 2**31 - 1])), within="Planning")


@act(0.7)
def another(user: User, facts: Facts) -> bool:
    return user.client.press(user.one(["Another variant", "Re-plan"]))


# --- edits and files


@act(4.0)
def undo_and_redo(user: User, facts: Facts) -> bool:
    times = int(user.one([1, 1, 2, 5, 12]))
    return all(user.client.press("Undo …" if user.chance(0.6) else "Redo …") for _ in range(times))


@act(1.5)
def cancel(user: User, facts: Facts) -> bool:
    return user.client.press("Cancel")


@act(0.6)
def open_another(user: User, facts: Facts) -> bool:
    found, choice = user.client.find("Open", "Dropdown"), user.one(_CHOICES)
    if found is None or choice not in found.options:
        return False
    user.client.put("Open", choice, "Dropdown")
    return user.client.press("Open", within="Storyboard")


@act(0.6)
def answer_kept(user: User, facts: Facts) -> bool:
    return user.client.press(user.one(["Restore", "Discard", "Discard"]))


@act(1.0)
def save(user: User, facts: Facts) -> bool:
    name = user.one(_BAD_NAMES) if user.chance(0.3) else f"stress_{int(user.dice.integers(2))}.yaml"
    user.told = name[:60]
    return user.client.put("Name", name, within="Storyboard") and user.client.press("Save")


@act(0.8)
def bring_in(user: User, facts: Facts) -> bool:
    """Import by path or upload, what can be and what cannot."""
    if len(facts["places"]) >= _THINGS:
        return False
    user.client.put("As", user.one(["scene", "object", "clip", "rig"]), within="Import")
    if user.chance(0.5):
        path = user.one(
            ["uploads/tetrahedron.obj", "counter.yaml", "stress.bvh", "/etc/passwd", "../x.obj", "", "none.glb"]
        )
        return user.client.put("Path", path, within="Import") and user.client.press("Import", within="Import")
    name = user.one(["tetrahedron.obj", "tetrahedron.obj", "x.exe", "../../x.obj", "broken.glb", "empty.bvh"])
    return user.client.upload("Upload", name, _TETRAHEDRON if name.endswith("obj") else b"nothing of the kind" * 10)


@act(0.5)
def upload_too_much(user: User, facts: Facts) -> bool:
    return user.client.upload("Upload", "large.obj", _TETRAHEDRON, told_size=10**12)


@act(0.5)
def export(user: User, facts: Facts) -> bool:
    """Export in some formats; a film is cancelled."""
    chosen = set(user.dice.choice(["GLB", "BVH", "NPZ", "USD", "HTML", "MP4"], 2, p=[0.25, 0.2, 0.2, 0.2, 0.1, 0.05]))
    for name in ("GLB", "BVH", "NPZ", "USD", "HTML", "MP4"):
        user.client.put(name, name in chosen, within="Export")
    user.client.put("File name", user.one(["stress", "stress", "stress", "../x", ""]), within="Export")
    user.told = str(chosen)
    done = user.client.press("Export", within="Export")
    if "MP4" in chosen:
        time.sleep(0.8)
        user.client.press("Cancel")
    return done


@act(0.2)
def report(user: User, facts: Facts) -> bool:
    return user.client.press("Report")


@act(1.0)
def key(user: User, facts: Facts) -> bool:
    """Press a key that does something."""
    if not user.client.commands:
        return False
    user.client.send("CommandTriggerMessage", uuid=user.client.commands[user.one(user.client.commands)])
    return True


@act(0.3)
def copy_as_code(user: User, facts: Facts) -> bool:
    done = user.client.press("Copy as command or Python")
    time.sleep(0.1)
    user.client.press("Close")
    return done


# --- time and view


@act(3.0)
def scrub(user: User, facts: Facts) -> bool:
    slider = user.client.find("Time (s)", "Slider")
    if slider is None:
        return False
    for t in user.dice.uniform(slider.props["min"], slider.props["max"], 5):
        user.client.put("Time (s)", round(float(t), 3), "Slider")
    return True


@act(2.0)
def play(user: User, facts: Facts) -> bool:
    group = user.client.find("Motion", "ButtonGroup")
    if group is None:
        return False
    done = user.client.press(user.one(group.options))
    time.sleep(0.05)
    return done


@act(2.0)
def view(user: User, facts: Facts) -> bool:
    label = user.one([*_SWITCHES, *_LOOKS, "Follow"])
    if label in _LOOKS:
        return user.client.press(label)
    return user.choose(label) if label == "Follow" else user.client.put(label, user.chance(0.5), "Checkbox")


@act(0.4)
def reload(user: User, facts: Facts) -> bool:
    user.reconnect()
    return True


@act(0.3)
def look_twice(user: User, facts: Facts) -> bool:
    """A second page of the same studio, for a moment."""
    other = Client(user.url)
    time.sleep(0.2)
    other.press(user.one(["Undo …", "Play", "Frame the action"]))
    other.close()
    return True


@act(1.5)
def wait(user: User, facts: Facts) -> bool:
    time.sleep(float(user.one([0.1, 0.5, 2.0])))
    return True
