"""What is told to the user: errors as one sentence, names and numbers with their units."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from elbowroom.plan.result import ADVICE, Plan, Status
from elbowroom.world.pairs import FLOOR

# What would help, where the page has something for it that other users of a plan have not.
_HERE: Mapping[Status, str] = {
    "base-in-collision": "press Repair, or move what it meets",
    "partial": "red bars show when; move what is in the way, or the person",
}


def sentence(error: BaseException, path: Path) -> str:
    """An error as one sentence; where it speaks of the storyboard that is open, its path and lines are left out."""
    text = str(error)
    text = re.sub(rf"^{re.escape(str(path))}(, line \d+)?: ", "", text)
    text = re.sub(r", on line \d+", "", text)
    text = re.sub(r"^tasks\[(\d+)\](\.\w+)*", lambda m: f"task {int(m[1]) + 1}", text)
    return text[:1].upper() + text[1:]


def seconds(t: float) -> str:
    """A time as it is written everywhere: 1.25 s."""
    return f"{t:.2f} s"


def millimetres(x: float) -> str:
    """A short length: 12.3 mm."""
    return f"{1000.0 * x:.1f} mm"


def nearest(plan: Plan) -> str:
    """How near a motion that is free comes to anything, and to the own body where that is nearer; empty if not known.

    Thighs brush each other in every walk: what somebody could run into is told first.
    """
    proof = plan.certificate
    if proof is None or proof.clearance_m is None or proof.at_s is None or proof.pair is None:
        return ""
    near, own = proof.nearest, ""
    if proof.others is not None:
        own = "" if FLOOR in proof.pair else f", own body {millimetres(proof.clearance_m)}"
        if proof.others.value is None:
            return f"nothing nearer than {100.0 * (proof.others.at_least or 0.0):.0f} cm{own}"
    assert near.pair is not None and near.value is not None and near.at is not None
    people = all(plan.world.split(name)[0] in plan.world.characters for name in near.pair)
    return f"nearest {'person' if people else 'thing'} {millimetres(near.value)} at {seconds(near.at)}{own}"


def advised(plan: Plan) -> str:
    """What was wrong and what would help, in one sentence, with parts of people in words and buttons by their names."""
    text = plan.advice
    if plan.status in _HERE:
        text = text.replace(ADVICE[plan.status], _HERE[plan.status])
    for who in plan.world.characters:
        text = re.sub(rf"(?<![\w.]){re.escape(who)}\.(\w+)", lambda m: part(m[0]), text)
    return text


def part(name: str) -> str:
    """A part of somebody, or a thing, in words: ann's left thigh."""
    who, dot, what = name.partition(".")
    return f"{who}'s {limb(what)}" if dot else name


def limb(name: str) -> str:
    """A limb in words: right arm."""
    return name.replace("_", " ")
