"""Forces on a body: centre of mass, ground reaction force, and joint torques relative to human strength.

Inverse dynamics by Pinocchio over the motion below 6 Hz. It first yields the wrench needed at the pelvis, which is the
ground reaction, acting at the zero moment point. The reaction is then applied to the planted feet, so that legs bear
the body; in double support each foot takes the more, the nearer the zero moment point is to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.dynamics import GRAVITY, STRENGTH, Dynamics, strength_of
from elbowroom.character.masses import center_of_mass
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply
from elbowroom.motion.smooth import derivative, judged, smoothed
from elbowroom.motion.soles import SIDES
from elbowroom.posing.balance import feet_of
from elbowroom.report.parts import Measure, Moment, light_of, listed
from elbowroom.report.people import Subject, words_for
from elbowroom.world.paths import places
from elbowroom.world.world import World

# Seconds in which a hand takes over the weight of what it lifts, or gives it away: nobody does that at once.
_TAKE = 0.2


@dataclass(frozen=True, eq=False)
class CarriedLoad:
    """Object in a hand: mass in kilograms, the joint that carries it, its centre (T, 3), and the share borne (T,)."""

    name: str
    mass: float
    joint: int
    at: Array
    share: Array

    def force(self, fps: float) -> Array:
        """Force on the hand, newtons (T, 3): weight and inertia."""
        return self.share[:, None] * self.mass * (np.array([0.0, 0.0, -GRAVITY]) - derivative(self.at, fps, 2))


def weighed(world: World, masses: Mapping[str, float]) -> World:
    """World with the masses of objects set, kilograms."""
    objects = dict(world.objects)
    for name, mass in masses.items():
        if name not in objects:
            raise UnknownName("object to weigh", name, objects)
        if not (np.isfinite(mass) and mass >= 0.0):
            raise BadValue(f"the mass of '{name}' must be 0 kg or more, not {mass}.")
        objects[name] = replace(objects[name], mass=mass)
    return world.with_(objects=objects)


def loads_of(world: World, subject: Subject) -> tuple[tuple[CarriedLoad, ...], tuple[str, ...]]:
    """All held objects of known mass, and notes on those of unknown mass."""
    times, fps = subject.times, subject.clip.fps
    mine = [h for h in world.holds if h.by == subject.name]
    found, unknown = [], []
    for hold in mine:
        thing = world.things[hold.object]
        if thing.mass is None:
            unknown.append(
                f"the mass of '{hold.object}' is unknown and counts as zero; set it with --mass or in the storyboard."
            )
            continue
        joint, _ = subject.character.hand(hold.hand)
        at = apply(places(thing.path, times), _center(thing.mesh)[None])[:, 0]
        others = [o for o in world.holds if o.object == hold.object]
        bearers = sum(((times >= o.during[0]) & (times <= o.during[1])).astype(float) for o in others)
        # share of a weight borne over time (T,): all of it in the interval except near its ends
        begin, end = hold.during
        up = np.ones(len(times)) if begin <= times[0] else smoothstep((times - begin) / _TAKE)
        down = np.ones(len(times)) if end >= times[-1] else smoothstep((end - times) / _TAKE)
        share = np.minimum(up, down) / np.maximum(bearers, 1.0)
        found.append(CarriedLoad(hold.object, thing.mass, joint, smoothed(at, fps), share))
    return tuple(found), tuple(dict.fromkeys(unknown))


def _center(mesh: Mesh) -> Array:
    """Centroid (3,) of a mesh's surface."""
    corners = mesh.vertices[mesh.faces]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    if not area.sum() > 0.0:
        return np.asarray(mesh.bounds.mean(axis=0))
    return np.asarray(np.average(corners.mean(axis=1), axis=0, weights=area))


# Below this share of its weight a body flies, lands or takes off: so little presses on the ground that small errors put
# the point anywhere, or there is none.
_FLIGHT = 0.4
# How far the pressure gets, as a share of the way from the heel to the tip of the toes: four fifths of a sole's length,
# which is the ball and half of the toes. With it the ankles of recorded walks give 1.5 to 1.8 Nm for each kg, which is
# what laboratories with force plates find (1.4 to 1.7, from memory); with the tips of the toes they would give 2.0 to
# 2.5.
_FRONT = 0.83
# Half the width of a sole, metres: pressure goes no further to the side.
_WIDTH = 0.04
# Frames without which there is no acceleration.
ENOUGH = 3


@dataclass(frozen=True, eq=False)
class Forces:
    """Forces over time.

    `com` (T, 3) is the centre of mass of the body and its loads, metres; `ground` (T, 3) the ground reaction force,
    newtons, and `moment` (T, 3) its moment about the centre of mass, Nm; `zmp` (T, 2) the zero moment point on the
    floor, NaN in flight; `torque` (T, J, 3) that at each joint, Nm, in its own frame. `weight` in newtons is that of
    the body alone; `rest` (T,) is the force that no foot takes up, newtons.
    """

    com: Array
    ground: Array
    moment: Array
    zmp: Array
    torque: Array
    weight: float
    rest: Array


def center_with_loads(subject: Subject, loads: Sequence[CarriedLoad], T: Array) -> Array:
    """Centre of mass (T, 3) of a body with joints at (T, J, 4, 4) and its loads."""
    masses = subject.character.masses
    assert masses is not None
    total = np.full(len(T), masses.total)
    moment = masses.total * center_of_mass(subject.character, T)
    for load in loads:
        total = total + load.share * load.mass
        moment = moment + (load.share * load.mass)[:, None] * load.at
    return moment / total[:, None]


def forces_of(subject: Subject, loads: Sequence[CarriedLoad], ground: float | Array) -> Forces:
    """Compute the forces on a body that has masses; `ground` in metres is the height of the ground, one or (T,).
    Needs three frames."""
    clip, T = subject.smooth, subject.T_smooth
    dynamics = Dynamics(subject.character)
    pushes = _loads_on_hands(loads, T, clip.fps)
    root = dynamics.torques(clip, pushes)[:, :6]
    turn = T[:, 0, :3, :3]
    force, moment = (np.einsum("tab,tb->ta", turn, part) for part in (root[:, :3], root[:, 3:]))
    weight = dynamics.mass * GRAVITY
    level = np.broadcast_to(np.asarray(ground, dtype=float), len(T))
    zmp = _zero_moment_point(T[:, 0, :3, 3], force, moment, level)
    zmp[force[:, 2] < _FLIGHT * weight] = np.nan
    on_feet = _on_feet(subject, T, force, moment, np.column_stack([zmp, level]))
    for joint, wrench in on_feet.items():
        pushes[joint] = pushes.get(joint, 0.0) + wrench
    torque = dynamics.torques(clip, pushes)
    joints = np.zeros((len(T), len(subject.character.skeleton), 3))
    joints[:, 1:] = torque[:, dynamics.velocity_columns]
    rest = np.linalg.norm(torque[:, :3], axis=-1)
    com = center_with_loads(subject, loads, T)
    about_com = moment + np.cross(T[:, 0, :3, 3] - com, force)
    return Forces(com, force, about_com, zmp, joints, weight, rest)


def _zero_moment_point(root: Array, force: Array, moment: Array, level: Array) -> Array:
    """Point on the ground (T, 2), at heights (T,), about which a force at the root (T, 3) with its moment does not
    tip the body."""
    up = np.where(np.abs(force[:, 2]) > 1e-9, force[:, 2], np.nan)
    height = root[:, 2] - level
    x = root[:, 0] - (moment[:, 1] + height * force[:, 0]) / up
    y = root[:, 1] + (moment[:, 0] - height * force[:, 1]) / up
    return np.stack([x, y], axis=-1)


def _loads_on_hands(loads: Sequence[CarriedLoad], T: Array, fps: float) -> dict[int, Array]:
    """Forces and moments (T, 6) about the joints that carry something."""
    pushes: dict[int, Array] = {}
    for load in loads:
        force = load.force(fps)
        wrench = np.concatenate([force, np.cross(load.at - T[:, load.joint, :3, 3], force)], axis=1)
        pushes[load.joint] = pushes.get(load.joint, 0.0) + wrench
    return pushes


def _on_feet(subject: Subject, T: Array, force: Array, moment: Array, zmp: Array) -> dict[int, Array]:
    """Ground reaction wrench on each foot, (T, 6) about its joint; together they are what the body needs."""
    contacts = subject.contacts
    if contacts is None:
        return {}
    soles = feet_of(subject.character)
    borne = [np.clip(smoothed(contacts.foot(side).astype(float), contacts.fps), 0.0, 1.0) for side in SIDES]
    known = np.isfinite(zmp[:, 0])
    at = np.where(known[:, None], zmp, 0.0)
    heels = [apply(T[:, s.foot], s.heel[None])[:, 0] for s in soles]
    fronts = [heel + _FRONT * (s.tips(T) - heel) for heel, s in zip(heels, soles, strict=True)]
    press = [_nearest(at, heel, front) for heel, front in zip(heels, fronts, strict=True)]
    between = press[1] - press[0]
    along = np.einsum("ta,ta->t", at - press[0], between) / np.maximum(np.einsum("ta,ta->t", between, between), 1e-12)
    towards_right = np.clip(along, 0.0, 1.0)
    parts = [borne[0] * (1.0 - towards_right) + 1e-6 * borne[0], borne[1] * towards_right + 1e-6 * borne[1]]
    total = parts[0] + parts[1]
    factor = np.where(known & (total > 1e-9), np.maximum(*borne) / np.maximum(total, 1e-12), 0.0)
    shares = [part * factor for part in parts]
    # what the two points of pressure leave of the moment is taken up by the width of the soles, as far as that goes
    about_root = np.cross(press[0] - T[:, 0, :3, 3], shares[0][:, None] * force)
    about_root += np.cross(press[1] - T[:, 0, :3, 3], shares[1][:, None] * force)
    left = moment * (shares[0] + shares[1])[:, None] - about_root
    most = _WIDTH * subject.size * np.abs(force[:, 2])
    out = {}
    for k, sole in enumerate(soles):
        mine = shares[k][:, None] * force
        part = shares[k] / np.maximum(shares[0] + shares[1], 1e-12)
        taken = part[:, None] * _rolled(left, fronts[k] - heels[k], most)
        about = np.cross(press[k] - T[:, sole.foot, :3, 3], mine) + taken
        out[sole.foot] = np.concatenate([mine, about], axis=1)
    return out


def _nearest(at: Array, a: Array, b: Array) -> Array:
    """Points (T, 3) between a and b (T, 3) that are nearest to places `at` (T, 3)."""
    along = b - a
    s = np.einsum("ta,ta->t", at - a, along) / np.maximum(np.einsum("ta,ta->t", along, along), 1e-12)
    return a + np.clip(s, 0.0, 1.0)[:, None] * along


def _rolled(moment: Array, ahead: Array, most: Array) -> Array:
    """Share of moments (T, 3) that a sole pointing `ahead` (T, 3) can take up: all about the vertical, as much about
    its own length as its width allows (T,), and none that would press in front of the toes or behind the heel."""
    along = ahead[:, :2] / np.maximum(np.linalg.norm(ahead[:, :2], axis=-1, keepdims=True), 1e-12)
    roll = np.clip(np.einsum("ta,ta->t", moment[:, :2], along), -most, most)
    return np.column_stack([roll[:, None] * along, moment[:, 2]])


# Shares of a joint's strength: good up to, worth a look up to. Recorded walks come to the first at the ankle, runs and
# squats of 108 recordings to 2.05 at knees and hips: muscles that give way bear more than they push with, and the point
# of the ground reaction is known to a few centimetres.
EFFORT = (1.0, 2.1)


@dataclass(frozen=True, eq=False, kw_only=True)
class Torque(Measure):
    """Size of the torque (T, K) at each joint, Nm; `strength` (K,) that of a healthy adult; `change` (K,) the root mean
    square of how quickly it changes, Nm a second. `counts` (T,) marks the frames that are judged."""

    times: Array
    joints: tuple[str, ...]
    torque: Array
    strength: Array
    change: Array
    counts: NDArray[np.bool_]

    @property
    def effort(self) -> Array:
        """Torque as a share of strength, (T, K)."""
        return self.torque / self.strength

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        judged_torque = np.where(self.counts[:, None], self.torque, 0.0)
        rows = []
        for k, joint in enumerate(self.joints):
            frame, strength = int(np.argmax(judged_torque[:, k])), float(self.strength[k])
            peak = float(judged_torque[frame, k])
            rows.append(
                {
                    "joint": joint,
                    "peak_nm": round(peak, 2),
                    "at_s": round(float(self.times[frame]), 4),
                    "strength_nm": round(strength, 1),
                    "effort_share": round(peak / strength, 4) if strength > 0.0 else None,
                    "change_nm_per_s": round(float(self.change[k]), 1),
                }
            )
        return super().facts() | {"joints": rows}

    def curves(self) -> dict[str, Any]:
        """Curves for JSON."""
        named = {joint: listed(self.torque[:, k], 2) for k, joint in enumerate(self.joints)}
        return {"times_s": listed(self.times), "torque_nm": named}


def torque_of(subject: Subject, forces: Forces, notes: tuple[str, ...] = ()) -> Torque:
    """Measure the torques of a body that has masses."""
    roles = [role for role in STRENGTH if subject.character.roles.get(role, 0) > 0]
    rows = [subject.character.roles[role] for role in roles]
    masses = subject.character.masses
    assert masses is not None
    strength = np.array([strength_of(subject.character, role) for role in roles])
    torque = np.linalg.norm(forces.torque[:, rows], axis=-1)
    change = derivative(forces.torque[:, rows], subject.clip.fps)
    counts = judged(len(torque), subject.clip.fps)
    rate = np.sqrt(np.mean(np.sum(change[counts] ** 2, axis=-1), axis=0)) if counts.any() else np.zeros(len(rows))
    names = tuple(words_for(role) for role in roles)
    hanging = float(np.mean(forces.rest[counts] > 0.5 * forces.weight)) if counts.any() else 0.0
    if hanging > 0.02:
        text = f"in {100 * hanging:.0f} % of the time no foot is planted: legs then count as hanging."
        notes = (*notes, text)
    common: dict[str, Any] = {"times": subject.times, "joints": names, "torque": torque, "strength": strength}
    if not counts.any() or not rows:
        says = "The clip is too short to compute forces." if rows else "The rig has no known joints to judge."
        return Torque(light="none", says=says, change=rate, counts=counts, notes=notes, **common)
    effort = np.where(counts[:, None], torque / strength, 0.0)
    frame, joint = np.unravel_index(int(np.argmax(effort)), effort.shape)
    peak = float(effort[frame, joint])
    light = light_of(peak, *EFFORT)
    most = f"the {names[joint]} exerts {torque[frame, joint]:.0f} Nm, {100 * peak:.0f} % of an adult's strength"
    says = {
        "good": f"Easy for an average adult: at most {most}.",
        "look": f"Strenuous for an average adult: {most}.",
        "bad": f"Beyond human strength: {most}.",
    }[light]
    return Torque(
        light=light,
        says=says,
        headline=f"{100 * peak:.0f} % of strength, {names[joint]}",
        moments=_peaks(subject, names, rows, torque, effort),
        figures={"maximum effort": f"{100 * peak:.0f} % ({names[joint]})", "fastest change": _quickest(names, rate)},
        notes=notes,
        change=rate,
        counts=counts,
        **common,
    )


def _peaks(
    subject: Subject, names: tuple[str, ...], rows: list[int], torque: Array, effort: Array
) -> tuple[Moment, ...]:
    """Moments of the two most loaded joints."""
    out = []
    for k in np.argsort(-effort.max(axis=0))[:2]:
        frame = int(np.argmax(effort[:, k]))
        text = f"{names[k]} exerts {torque[frame, k]:.0f} Nm, {100 * effort[frame, k]:.0f} % of its strength"
        bad = float(effort[frame, k]) / EFFORT[0]
        part = f"{subject.name}.{subject.character.skeleton.names[rows[k]]}"
        out.append(Moment(float(subject.times[frame]), text, subject.name, bad, part, 1.2 * subject.size))
    return tuple(out)


def _quickest(names: tuple[str, ...], rate: Array) -> str:
    k = int(np.argmax(rate))
    return f"{rate[k]:.0f} Nm/s ({names[k]}, root mean square)"
