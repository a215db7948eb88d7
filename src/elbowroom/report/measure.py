"""Report on a world: all measures of every character in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from elbowroom import stopping as stages
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip, Motion
from elbowroom.motion.layers import to_clip
from elbowroom.report.balance import Balance, balance_of
from elbowroom.report.bearing import bearing_height, bearing_of, gaps_of
from elbowroom.report.clearance import ClearanceMeasure, clearance_of
from elbowroom.report.difference import Difference, difference_of
from elbowroom.report.footing import FootHeights, FootSliding, feet_of_person, floating_of, sinking_of
from elbowroom.report.forces import ENOUGH, Torque, forces_of, loads_of, torque_of, weighed
from elbowroom.report.hands import HandMotion, hands_of
from elbowroom.report.how import TITLES, thresholds
from elbowroom.report.limits import Limits, limits_of
from elbowroom.report.own import Own, own_of
from elbowroom.report.parts import Light, Measure, worst
from elbowroom.report.people import Subject, leads_marked, subject_of
from elbowroom.report.physics import Physics, physics_of
from elbowroom.report.published import published_of
from elbowroom.report.recorded import Recorded, recorded_of
from elbowroom.report.speed import Speed, speed_of
from elbowroom.world.certificate import Certificate
from elbowroom.world.edit import Edit
from elbowroom.world.world import World

# Of the facts for JSON; it grows when a name in them changes its meaning or goes.
LAYOUT = 4


@dataclass(frozen=True, eq=False)
class PersonMeasures:
    """Measures of one character; one that could not be taken is a `Measure` without a light, with the reason."""

    name: str
    frames: int
    fps: float
    own: Own
    limits: Limits
    balance: Balance | Measure
    feet: FootSliding | Measure
    floating: FootHeights | Measure
    sinking: FootHeights | Measure
    speed: Speed
    hands: HandMotion
    torque: Torque | Measure
    physics: Physics | Measure
    recorded: Recorded | None = None
    difference: Difference | None = None

    @property
    def measures(self) -> Mapping[str, Measure]:
        """All measures by name, in the order of the page."""
        return {name: m for name in TITLES if isinstance(m := getattr(self, name, None), Measure)}


@dataclass(frozen=True, eq=False)
class Report:
    """Clearance of the whole world, and measures of each character. `others` are robots: clearance only.

    `blends` are edits for which recordings were given.
    """

    world: World
    clearance: ClearanceMeasure
    people: tuple[PersonMeasures, ...]
    others: tuple[str, ...] = ()
    title: str = "motion"
    notes: tuple[str, ...] = field(default=())
    blends: tuple[Edit, ...] = ()

    @cached_property
    def published(self) -> Mapping[str, Mapping[str, Any]]:
        """Measures in the definitions of others, by name of each character with feet."""
        found = {person.name: published_of(self.world, person.name) for person in self.people}
        return {name: values for name, values in found.items() if values is not None}

    @property
    def light(self) -> Light:
        """The worst of all lights."""
        return worst(*(m.light for *_, m in self.measures))

    @property
    def collides(self) -> bool:
        """Return whether anybody collides, with something else or deeply with the own body."""
        return "bad" in (self.clearance.light, *(p.own.light for p in self.people))

    @property
    def span(self) -> tuple[float, float]:
        """Start and end of the motion, seconds."""
        return self.world.span

    @property
    def measures(self) -> list[tuple[str, str, Measure]]:
        """Every measure in the order of the page: character (empty for the whole scene), key, and measure."""
        return [
            ("", "clearance", self.clearance),
            *((p.name, key, m) for p in self.people for key, m in p.measures.items()),
        ]

    @property
    def verdict(self) -> tuple[str, str]:
        """Verdict on the motion, in two words and in a sentence."""
        names: dict[Light, list[str]] = {"bad": [], "look": []}
        for who, key, m in self.measures:
            if m.light in names:
                name = f"{who}'s {TITLES[key].lower()}" if len(self.people) > 1 and who else TITLES[key].lower()
                names[m.light].append(f"{name} ({m.headline})" if m.headline else name)
        if self.clearance.hits:
            words = [f"{self.clearance.says.partition(':')[0]}."]
        else:
            words = ["No collision was found." if self.clearance.undecided else "No collisions."]
        words += [f"Bad: {', '.join(names['bad'])}."] if names["bad"] else []
        words += [f"Needs review: {', '.join(names['look'])}."] if names["look"] else []
        if len(words) == 1:
            good = sum(m.light == "good" for *_, m in self.measures)
            taken = "measures" if good == len(self.measures) else "applicable measures"
            words = [f"No collisions, and all {good} {taken} are good."]
        short = {"bad": "Not ready", "look": "Nearly there"}.get(self.light, "Ready to use")
        return short, " ".join(words)

    def facts(self, curves: bool = False) -> dict[str, Any]:
        """Plain data for JSON; with the curves over time if requested."""

        def facts_of(measure: Measure) -> dict[str, Any]:
            return measure.facts() | ({"curves": measure.curves()} if curves else {})

        return {
            "layout": LAYOUT,
            "title": self.title,
            "light": self.light,
            "verdict": " ".join((f"{self.verdict[0]}:", self.verdict[1])),
            "span_s": list(self.span),
            "clearance": facts_of(self.clearance),
            "characters": {
                p.name: {"frames": p.frames, "fps": p.fps} | {key: facts_of(m) for key, m in p.measures.items()}
                for p in self.people
            },
            "published": dict(self.published),
            "robots": list(self.others),
            "thresholds": thresholds(),
            "notes": list(self.notes),
            "blends": [
                {"who": e.who, "what": e.reason, "during": list(e.during), **e.blend.facts()}
                for e in self.blends
                if e.blend is not None
            ],
        }


def report(
    world: World,
    original: World | Mapping[str, Motion] | Motion | None = None,
    *,
    certificate: Certificate | None = None,
    masses: Mapping[str, float] | None = None,
    own_contacts: bool = True,
    change_meant: bool = False,
    title: str = "motion",
    edits: Sequence[Edit] = (),
) -> Report:
    """Measure a motion.

    `original` is the source motion: a world with the same names, motions by name, or a single motion for a single
    character. `certificate` avoids proving again what planning has proven. `masses` in kg are those of objects whose
    mass the world does not have. With `own_contacts`, clips read from files may touch themselves and the floor, as in
    `certify`. `change_meant` marks a requested change of the original;
    `edits` are those of a plan.
    """
    if not world.characters:
        raise BadValue("nothing to report on: the world has no characters.")
    world = weighed(leads_marked(world), masses or {})
    before = _originals(world, original)
    stages.report("foot contacts")
    subjects = {name: subject_of(name, motion) for name, motion in world.characters.items()}
    clearance = clearance_of(world, certificate, own_contacts)
    known = [s for s in subjects.values() if s is not None]
    people = tuple(_person(world, s, own_of(s, clearance), before.get(s.name), change_meant) for s in known)
    return Report(
        world=world,
        clearance=clearance,
        people=people,
        others=tuple(name for name, s in subjects.items() if s is None),
        title=title,
        notes=tuple(dict.fromkeys(world.notes)),
        blends=tuple(edit for edit in edits if edit.blend is not None),
    )


def _originals(world: World, original: World | Mapping[str, Motion] | Motion | None) -> dict[str, Clip]:
    """Original motion of each character that has one."""
    if original is None:
        return {}
    if isinstance(original, World):
        found = dict(original.characters)
    elif isinstance(original, Mapping):
        found = dict(original)
    elif len(world.characters) == 1:
        found = dict.fromkeys(world.characters, original)
    else:
        names = ", ".join(world.characters)
        raise BadValue(f"a single original is ambiguous with the characters {names}: give originals by name.")
    people = {
        n: m for n, m in found.items() if n in world.characters and subject_of(n, world.characters[n]) is not None
    }
    return {n: m if isinstance(m, Clip) else to_clip(m) for n, m in people.items()}


def _person(
    world: World, subject: Subject, own: Own, original: Clip | None, change_meant: bool = False
) -> PersonMeasures:
    stages.report(f"loads of {subject.name}")
    loads, notes = loads_of(world, subject)
    ground = _ground(world, subject)
    balance: Measure = _unmeasured(_why_no_forces(subject, ground))
    torque: Measure = balance
    physics: Measure = balance
    gaps = None
    feet: Measure = _unmeasured("No feet were found in the rig.")
    floating = sinking = feet
    if subject.contacts is not None:
        stages.report(f"feet of {subject.name}")
        gaps = gaps_of(subject, world)
        feet, floating, sinking = feet_of_person(subject), floating_of(subject, gaps), sinking_of(subject, gaps)
    if not balance.says and ground is not None:
        stages.report(f"forces on {subject.name}")
        forces = forces_of(subject, loads, ground)
        torque = torque_of(subject, forces, notes)
        bearing = bearing_of(subject, world.floor, world.contacts)
        physics = physics_of(subject, forces, bearing, gaps)
        feasible = physics.light in ("good", "look")
        balance = balance_of(subject, forces, bearing, feasible) if subject.contacts is not None else feet
    stages.report(f"joint limits of {subject.name}")
    limits = limits_of(subject)
    stages.report(f"speed of {subject.name}")
    speed, hands = speed_of(subject), hands_of(subject)
    stages.report(f"postures of {subject.name}")
    return PersonMeasures(
        name=subject.name,
        frames=len(subject.clip),
        fps=subject.clip.fps,
        own=own,
        limits=limits,
        balance=balance,
        feet=feet,
        floating=floating,
        sinking=sinking,
        speed=speed,
        hands=hands,
        torque=torque,
        physics=physics,
        recorded=recorded_of(world, subject),
        difference=None if original is None else difference_of(subject, original, change_meant),
    )


def _ground(world: World, subject: Subject) -> float | Array | None:
    """Height of the ground under a character: under its feet, (T,), or the world's floor for a body without feet."""
    return world.floor if subject.contacts is None else bearing_height(subject.contacts)


def _why_no_forces(subject: Subject, floor: float | Array | None) -> str:
    """Reason why forces cannot be computed; empty if they can."""
    masses = subject.character.masses
    if masses is None:
        return "The masses of this body's parts are unknown."
    if not (np.isfinite(masses.mass).all() and masses.total > 0.0):
        return "The parts of this body have zero mass."
    if len(subject.clip) < ENOUGH:
        return f"Forces need at least {ENOUGH} frames."
    if floor is None:
        return "There is no floor, and there are no feet to infer one from."
    return "" if np.isfinite(subject.clip.root).all() else "The motion has values that are not finite."


def _unmeasured(why: str) -> Measure:
    return Measure(light="none", says=why)
