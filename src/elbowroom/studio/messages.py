"""Texts for the user: errors as one sentence, names, numbers with units."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from elbowroom.plan.state.result import ADVICE, Plan, Status
from elbowroom.world.pairs import FLOOR

# Advice by status that refers to the page's own buttons.
_HERE: Mapping[Status, str] = {
    "base-in-collision": "press Repair, or move the obstacle",
    "partial": "red bars show when; move the obstacle or the character",
}


def sentence(error: BaseException, path: Path) -> str:
    """Error as one sentence, without path and lines of the open storyboard."""
    text = str(error)
    text = re.sub(rf"^{re.escape(str(path))}(, line \d+)?: ", "", text)
    text = re.sub(r" with the task on line \d+", "", text)
    text = re.sub(r"^tasks\[(\d+)\](\.\w+)*", lambda m: f"task {int(m[1]) + 1}", text)
    return text[:1].upper() + text[1:]


def seconds(t: float) -> str:
    """Text of a time: 1.25 s."""
    return f"{t:.2f} s"


def millimetres(x: float) -> str:
    """Text of a short length: 12.3 mm."""
    return f"{1000.0 * x:.1f} mm"


def nearest(plan: Plan) -> str:
    """Text of the minimum clearance to other bodies, and to the own body if that is smaller; empty if unknown.

    Thighs brush each other in every walk: clearance to other bodies comes first.
    """
    proof = plan.certificate
    if proof is None or proof.clearance_m is None or proof.at_s is None or proof.pair is None:
        return ""
    near, own = proof.nearest, ""
    if proof.others is not None:
        own = "" if FLOOR in proof.pair else f", own body {millimetres(proof.clearance_m)}"
        if proof.others.value is None:
            return f"clearance at least {100.0 * (proof.others.at_least or 0.0):.0f} cm{own}"
    assert near.pair is not None and near.value is not None and near.at is not None
    people = all(plan.world.split(name)[0] in plan.world.characters for name in near.pair)
    whom = "between characters " if people else ""
    return f"minimum clearance {whom}{millimetres(near.value)} at {seconds(near.at)}{own}"


def advised(plan: Plan) -> str:
    """Sentence on what failed and what would help, with body parts in words and buttons by name."""
    text = plan.advice
    if plan.status in _HERE:
        text = text.replace(ADVICE[plan.status], _HERE[plan.status])
    for who in plan.world.characters:
        text = re.sub(rf"(?<![\w.]){re.escape(who)}\.(\w+)", lambda m: part(m[0]), text)
    return text


def part(name: str) -> str:
    """Body part or object in words: ann's left thigh."""
    who, dot, what = name.partition(".")
    return f"{who}'s {limb(what)}" if dot else name


def limb(name: str) -> str:
    """Limb in words: right arm."""
    return name.replace("_", " ")
