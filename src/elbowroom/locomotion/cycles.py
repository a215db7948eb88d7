"""Gait cycles in recorded clips: strides found by their contacts, normalised to fit every body.

A stride goes from a contact of the left foot to its next one. It is expressed in the body frame: a frame on the floor
that advances and turns uniformly over the stride, about which the pelvis sways. Lengths are in leg lengths, speeds and
rates those of the reference leg at the same Froude number, so that a stride of any person fits any other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np

from elbowroom.character.human import human
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import UP, Array
from elbowroom.locomotion.body_frame import BodyFrame, band_limited, closed, even_times, sampled
from elbowroom.locomotion.course import facing, leftwards
from elbowroom.locomotion.figure import SIDES, Figure, figure
from elbowroom.locomotion.gait_tables import GaitStyle
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import Contacts, FootStep, foot_contacts, steps
from elbowroom.motion.edit import without_lead
from elbowroom.motion.retarget import retarget
from elbowroom.motion.retarget_pose import has_feet, leg_length

# Parts whose rotations are stored: the first three in the body frame, the others against their parents.
TRUNK = ("pelvis", "chest", "head")
LIMBS = ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toes")
PARTS = (*TRUNK, *(f"{side}_{part}" for side in SIDES for part in LIMBS))
PHASES = 32  # samples of a cycle
SHARES = np.linspace(0.0, 1.0, 17)  # samples of a stance or a swing
# A stride is left out where the durations of its two steps differ by more than this share of it,
_UNEVEN = 0.11
_UNEVEN_MOST = 0.2  # or by this when turning in place and going sideways;
# or where the body at its end is not as at its start: radians in trunk and legs, in arms; m/s of the body.
_OPEN_RAD = np.radians(28.0)
_OPEN_ARM_RAD = np.radians(40.0)
_UNSTEADY_M_S = 0.45
# Shortest and longest stride, seconds of the reference leg.
_STRIDE_S = (0.45, 3.2)
# Speeds below which a body goes nowhere, m/s of the reference leg, and does not turn, rad/s.
_IN_PLACE_M_S = 0.16
_TURNING_RAD_S = np.radians(14.0)
# Directions of travel, radians from straight ahead, within which a stride counts as forwards, back, sideways.
_ASTRAY = np.radians(33.0)
_BRISK_M_S = 1.5
# A stride with less double support than this share is a run. In a crouch the hips are below this share of their
# standing height.
_RUN_DUTY = 0.5
_CROUCH = 0.84
# A stride whose speed changes by this much between its steps starts or stops, m/s of the reference leg.
_STARTS_M_S = 0.3
# Largest deviation of a person's posture from the usual, radians, unclamped up to about half of it; and that of the
# head.
_OWN_RAD = np.radians(5.0)
_LOOKS_DOWN_RAD = np.radians(4.0)
# The same for the straightest knee in stance (Winter 1991: 5 to 8 degrees), and its largest deviation.
_STRAIGHTEST_RAD = np.radians(6.0)
_OWN_KNEE_RAD = np.radians(3.0)
MODES = ("walk", "brisk", "turn", "run", "crouch", "side", "back", "start", "stop")


@dataclass(frozen=True, eq=False)
class FootCycle:
    """One foot in a cycle.

    duty: share of the cycle on the ground; strike, push: angles of the sole at contact (toes up) and at the end (heel
    up), radians; place (3,): ankle in the body frame in mid-stance, forwards and left in leg lengths, and heading of
    the toes; knee (S,): flexion over the stance, radians; swing (S, 4): ankle relative to the straight line between
    both ends, forwards, left, up in leg lengths, and angle of the sole (toes up), over the swing; step: its length, leg
    lengths.
    """

    duty: float
    strike: float
    push: float
    place: Array
    knee: Array
    swing: Array
    step: float


@dataclass(frozen=True, eq=False)
class Cycle:
    """A stride from left contact to left contact, the right one at phase 0.5.

    velocity (3,): forwards and left, m/s, and turn to the left, rad/s; rate: strides per second; all of the reference
    leg. turns (P, R, 4): of `PARTS`; offset (P, 3): pelvis relative to the body frame, leg lengths, its height over the
    floor; opening: mismatch of the ends before they were joined, radians.
    """

    source: str
    mode: str
    velocity: Array
    rate: float
    turns: Array
    offset: Array
    feet: tuple[FootCycle, FootCycle]
    opening: float = 0.0

    def mirrored(self) -> Cycle:
        """The cycle with left and right exchanged, a left contact at phase 0 again."""
        half = PHASES // 2
        turns = np.roll(self.turns, -half, axis=0)[:, [PARTS.index(_other(p)) for p in PARTS]]
        offset = np.roll(self.offset, -half, axis=0) * [1.0, -1.0, 1.0]
        flips = [1.0, -1.0, 1.0, 1.0]
        feet = tuple(
            FootCycle(f.duty, f.strike, f.push, f.place * [1.0, -1.0, -1.0], f.knee, f.swing * flips, f.step)
            for f in self.feet[::-1]
        )
        velocity = self.velocity * [1.0, -1.0, -1.0]
        turned = turns * [1.0, 1.0, -1.0, -1.0]
        return Cycle(self.source, self.mode, velocity, self.rate, turned, offset, (feet[0], feet[1]), self.opening)


def _other(part: str) -> str:
    swap = {"left": "right", "right": "left"}
    side, _, rest = part.partition("_")
    return f"{swap[side]}_{rest}" if side in swap else part


@lru_cache(maxsize=1)
def reference() -> Figure:
    """The built-in person, on whom recorded clips are measured."""
    return figure(human())


def cycles_of(clip: Clip, name: str = "") -> list[Cycle]:
    """Gait cycles of a clip on any rig with feet; none without two even steps."""
    if not has_feet(clip.character):
        raise BadValue(f"'{name or clip.name}' has no gait cycles: its rig has no feet.")
    body = reference()
    own = without_lead(clip)
    retargeted = retarget(own, body.character)
    contacts = foot_contacts(retargeted)
    stride = _Recording.measured(own, retargeted, body, contacts)
    found = []
    for first, other in ((0, 1), (1, 0)):
        for a, b, between in _strides(steps(contacts, SIDES[first]), steps(contacts, SIDES[other]), len(retargeted)):
            made = stride.cycle(a, b, between, name or clip.name, first)
            if made is not None:
                found.append(made)
    return found


def _bend(clip: Clip, side: str) -> Array:
    """Flexion of a knee (T,) on the clip's own rig, radians: on another one a centimetre of height makes ten
    degrees.
    """
    at = clip.positions()
    hip, knee, ankle = (at[:, clip.character.role(f"{side}_{part}")] for part in ("thigh", "shin", "foot"))
    cosine = np.sum(rot.normalize(knee - hip) * rot.normalize(ankle - knee), axis=1)
    return np.arccos(np.clip(cosine, -1.0, 1.0))


def _upright(turns: Array, mode: str, speed: float) -> Array:
    """Rotations (P, R, 4) of a cycle with pelvis, chest and head pitched about as usual at a speed (m/s).

    The rest pose of a rig's or marker set's trunk says little about the person's posture: recorded heads would nod by
    up to 40 degrees from person to person. Deviations beyond the usual are reduced; limbs keep their world rotations.
    """
    if mode == "crouch":
        return turns
    lean = float(GaitStyle(speed, 1.0 if mode == "run" else 0.0).lean)
    out = turns.copy()
    for part, usual, carried in (
        ("pelvis", 0.45 * lean, ("thigh",)), ("chest", lean, ("clavicle",)), ("head", _LOOKS_DOWN_RAD, ())
    ):  # fmt: skip
        k = PARTS.index(part)
        up = rot.rotate(turns[:, k], UP)
        bent = float(np.arctan2(-up[:, 1].mean(), up[:, 2].mean()))
        off = bent - usual - _OWN_RAD * np.tanh((bent - usual) / (2.0 * _OWN_RAD))
        back = rot.about([1.0, 0.0, 0.0], np.array(-off))
        out[:, k] = rot.multiply(back, turns[:, k])
        inner = rot.multiply(rot.conjugate(out[:, k]), turns[:, k])
        for name in carried:
            for side in SIDES:
                j = PARTS.index(f"{side}_{name}")
                out[:, j] = rot.multiply(inner, turns[:, j])
                if name == "clavicle":
                    # the shoulder stays on the chest, the arm keeps hanging
                    arm = PARTS.index(f"{side}_upper_arm")
                    out[:, arm] = rot.multiply(rot.multiply(rot.conjugate(turns[:, j]), out[:, j]), turns[:, arm])
                    out[:, j] = turns[:, j]
    return out


def _straightened(feet: tuple[FootCycle, FootCycle], mode: str) -> tuple[FootCycle, FootCycle]:
    """Both feet with upright walkers' knees about as straight as usual where they are straightest in stance.

    Rigs and fitted bodies whose legs are too long have knees bent by 10 to 30 degrees all the time.
    """
    if mode in ("run", "crouch"):
        return feet
    bent = float(np.mean([f.knee.min() for f in feet])) - _STRAIGHTEST_RAD
    off = bent - _OWN_KNEE_RAD * np.tanh(bent / (2.0 * _OWN_KNEE_RAD))
    left, right = (replace(f, knee=np.maximum(f.knee - off, 0.0)) for f in feet)
    return left, right


def _strides(
    mine: tuple[FootStep, ...], its: tuple[FootStep, ...], frames: int
) -> list[tuple[FootStep, FootStep, tuple[FootStep, FootStep]]]:
    """Consecutive steps of a foot, and those of the other foot that end and begin between them."""
    out = []
    for a, b in pairwise(mine):
        inside = [k for k, s in enumerate(its) if a.first < s.first < b.first]
        if len(inside) != 1 or inside[0] == 0 or a.first == 0:
            continue
        before, landed = its[inside[0] - 1], its[inside[0]]
        if landed.last < frames - 1:
            out.append((a, b, (before, landed)))
    return out


@dataclass(frozen=True, eq=False)
class _Recording:
    """A clip on the reference figure, measured.

    turns (T, R, 4) with the trunk's in the world, pelvis (T, 3), heading (T,), and by foot ankles (T, 3), pitch (T,),
    heading (T,), knee flexion (T,). `pace`: factor on speeds for the recorded person's leg length.
    """

    fps: float
    leg: float
    pace: float
    turns: Array
    pelvis: Array
    heading: Array
    ankles: list[Array]
    pitch: list[Array]
    toes: list[Array]
    knees: list[Array]

    @staticmethod
    def measured(own: Clip, clip: Clip, body: Figure, contacts: Contacts) -> _Recording:
        """Measure a clip that was retargeted to a figure from its own rig."""
        character = body.character
        T = clip.world()
        world = rot.multiply(rot.from_matrix(T[..., :3, :3]), rot.conjugate(body.rotations))
        at = {part: character.role(part) for part in PARTS}
        turns = np.empty((len(clip), len(PARTS), 4))
        for k, part in enumerate(PARTS):
            turn = world[:, at[part]]
            parent = int(character.skeleton.parents[at[part]])
            turns[:, k] = turn if part in TRUNK else rot.multiply(rot.conjugate(world[:, parent]), turn)
        headings = [np.unwrap(rot.heading(turns[:, k])) for k in (0, 1)]
        headings[1] += 2.0 * np.pi * np.round((headings[0][0] - headings[1][0]) / (2.0 * np.pi))
        ankles, pitch, toes, knees = [], [], [], []
        for side in SIDES:
            points = rot.rotate(world[:, at[f"{side}_foot"]], np.array([0.0, -1.0, 0.0]))
            pitch.append(np.arcsin(np.clip(points[:, 2], -1.0, 1.0)))
            toes.append(np.unwrap(np.arctan2(points[:, 0], -points[:, 1])))
            knees.append(_bend(own, side))
            ankles.append(T[:, at[f"{side}_foot"], :3, 3] - [0.0, 0.0, contacts.floor])
        pelvis = T[:, at["pelvis"], :3, 3] - [0.0, 0.0, contacts.floor]
        pace = float(np.sqrt(leg_length(own.character) / leg_length(character)))
        heading = 0.5 * (headings[0] + headings[1])
        return _Recording(clip.fps, body.leg, pace, turns, pelvis, heading, ankles, pitch, toes, knees)

    def cycle(
        self, a: FootStep, b: FootStep, between: tuple[FootStep, FootStep], name: str, first: int
    ) -> Cycle | None:
        """The stride of foot `first` from step a to step b; None where it cannot be repeated."""
        off, landed = between
        seconds = (b.first - a.first) / self.fps
        amid = (landed.first - a.first) / (b.first - a.first)
        if abs(amid - 0.5) > _UNEVEN_MOST or not _STRIDE_S[0] < seconds < _STRIDE_S[1]:
            return None
        frame = BodyFrame.of(self.pelvis, self.heading, a.first, b.first, self.fps)
        at = a.first + even_times(amid, PHASES) * (b.first - a.first)
        turns, opening, arms = self._closed_turns(frame, a.first, b.first, at)
        duty = [(s.last + 1 - s.first) / self.fps / seconds for s in (a, landed)]
        mode = self._mode(frame, duty, a.first, landed.first, b.first)
        uneven = abs(amid - 0.5) > _UNEVEN and mode not in ("turn", "side")
        if mode is None or uneven or opening > _OPEN_RAD or arms > _OPEN_ARM_RAD:
            return None
        frame, turn = frame.along(mode)
        turns[:, : len(TRUNK)] = rot.multiply(turn, turns[:, : len(TRUNK)])
        turns = _upright(turns, mode, float(np.linalg.norm(frame.velocity[:2])) * self.pace)
        pelvis = closed(frame.seen(self.pelvis, np.arange(len(self.pelvis))), a.first, b.first, at) / self.leg
        feet = (self._foot(frame, first, a, b, a, duty[0]), self._foot(frame, 1 - first, off, landed, landed, duty[1]))
        feet = _straightened(feet, mode)
        half = PHASES // 2
        if first == 1:
            turns, pelvis, feet = np.roll(turns, half, axis=0), np.roll(pelvis, half, axis=0), feet[::-1]
        return Cycle(name, mode, frame.velocity * self.pace, self.pace / seconds, turns, pelvis, feet, opening)

    def _closed_turns(self, frame: BodyFrame, begin: int, end: int, at: Array) -> tuple[Array, float, float]:
        """Rotations (P, R, 4) over a cycle in the body frame, ends joined; and the mismatch of trunk and legs, and of
        arms, radians.
        """
        frames = np.arange(begin, end + 1)
        own = self.turns[frames].copy()
        back = rot.about(UP, -frame.heading(frames))[:, None]
        own[:, : len(TRUNK)] = rot.multiply(back, own[:, : len(TRUNK)])
        own = rot.continuous(own)
        apart = rot.log(rot.multiply(rot.conjugate(own[0]), own[-1]))
        share = (frames - begin) / (end - begin) - 0.5
        own = rot.multiply(own, rot.exp(-share[:, None, None] * apart))
        own = rot.continuous(own)
        flat = band_limited(sampled(own.reshape(len(own), -1), at - begin))
        size = np.linalg.norm(apart, axis=-1)
        arms = np.array(["arm" in p or "hand" in p for p in PARTS])
        counted = ~arms & np.array(["toes" not in p and "clavicle" not in p for p in PARTS])
        return rot.normalize(flat.reshape(PHASES, len(PARTS), 4)), float(size[counted].max()), float(size[arms].max())

    def _mode(self, frame: BodyFrame, duty: list[float], begin: int, landed: int, end: int) -> str | None:
        v, turning = frame.velocity[:2], abs(frame.velocity[2])
        speed = float(np.linalg.norm(v))
        if speed < _IN_PLACE_M_S:
            return "turn" if turning > _TURNING_RAD_S and min(duty) > _RUN_DUTY else None
        early, late = (
            np.linalg.norm(self.pelvis[b, :2] - self.pelvis[a, :2]) * self.fps / (b - a)
            for a, b in ((begin, landed), (landed, end))
        )
        aside = abs(np.arctan2(v[1], v[0]))
        if max(duty) < _RUN_DUTY:
            return "run" if aside < _ASTRAY else None
        if late - early > _UNSTEADY_M_S or early - late > _UNSTEADY_M_S:
            return None
        if aside > np.pi - _ASTRAY:
            return "back"
        if abs(aside - 0.5 * np.pi) < _ASTRAY:
            return "side"
        if aside > _ASTRAY:
            return None
        hips = float(self.pelvis[begin:end, 2].mean()) / float(reference().at("pelvis")[2])
        if hips < _CROUCH:
            return "crouch"
        if abs(late - early) > _STARTS_M_S:
            return "start" if late > early else "stop"
        return "brisk" if speed > _BRISK_M_S else "walk"

    def _foot(
        self, frame: BodyFrame, foot: int, leaves: FootStep, lands: FootStep, stands: FootStep, duty: float
    ) -> FootCycle:
        """One foot: its stance, and its swing from the end of one step to the beginning of another."""
        ankle, pitch = self.ankles[foot], self.pitch[foot]
        stance = np.linspace(stands.first, stands.last, len(SHARES))
        middle = 0.5 * (stands.first + stands.last)
        level = slice(round(stands.first + 0.3 * (stands.last - stands.first)), round(middle) + 1)
        flat = float(np.median(pitch[level]))
        at = np.median(ankle[level], axis=0)
        seen = frame.seen(at[None], np.array([middle]))[0]
        toes = float(np.median(self.toes[foot][level]) - frame.heading(np.array([middle]))[0])
        air = np.linspace(leaves.last, lands.first, len(SHARES))
        path = sampled(ankle, air)
        path = path - path[0] - SHARES[:, None] ** 2 * (3.0 - 2.0 * SHARES[:, None]) * (path[-1] - path[0])
        ahead = frame.heading(np.array([0.5 * (air[0] + air[-1])]))[0]
        swing = np.stack([path[:, :2] @ facing(ahead), path[:, :2] @ leftwards(ahead), path[:, 2]], axis=-1) / self.leg
        step = float(np.linalg.norm(ankle[lands.first, :2] - ankle[leaves.last, :2])) / self.leg
        return FootCycle(
            duty=duty,
            strike=float(pitch[stands.first] - flat),
            push=float(flat - pitch[min(stands.last + 1, len(pitch) - 1)]),
            place=np.array([*(seen[:2] / self.leg), (toes + np.pi) % (2.0 * np.pi) - np.pi]),
            knee=sampled(self.knees[foot][:, None], stance)[:, 0],
            swing=np.concatenate([swing, sampled(pitch[:, None] - flat, air)], axis=1),
            step=step,
        )
