"""Whether a task can be done, by a test that shares no search with the planner: postures are drawn at random.

Trunks are bent, turned and lowered at random over feet that stay, balanced; the arm is solved in closed form for every
wanted place of the hand and many elbow angles; what is in range is looked at by the exact checker. A task counts as
feasible where one such posture at its target is free. Nothing is said about the way there. The free arm may be
anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.hand_shapes import HandShape, finger_joints, finger_rotations, hand_shape
from elbowroom.character.hands import grip_frame
from elbowroom.character.masses import center_of_mass
from elbowroom.character.skeleton import Pose
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.plan.tasks import Grab, Press, Put, Reach, Touch
from elbowroom.posing.balance import contact_points, feet_of, margin_inside
from elbowroom.posing.fingers import close_fingers
from elbowroom.posing.grasps import Grasp, grasps_of, press_target
from elbowroom.posing.limb_ik import Keep, LimbIK
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.world.allowances import supports
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Still
from elbowroom.world.world import Snapshot, World

# Trunks that are drawn, and those of them that are used: in balance, the shoulder within an arm of a target.
DRAWN, TRUNKS = 3000, 300
# Elbow angles for each trunk and target; targets and whole postures that are looked at.
ORBITS, TARGETS, CHECKS = 18, 96, 2500
# Largest lean forwards and aside, turn (radians), shift of the pelvis forwards and aside, and how far it goes down, as
# a share of the leg.
LEAN, ASIDE, TURN = (-0.15, 1.4), 0.4, 0.9
SHIFT, DROP = (0.2, 0.12), 0.45
# Centre of mass inside of the support, metres; hands may touch what they take to this depth.
MARGIN_M, TOUCH_M = 0.005, 0.002
# Joints may be out of range by this much where the person stands so already, radians.
SLACK_RAD = 0.02
# Spots on a surface that is touched, and turns of a hand that reaches for a point.
SPOTS, TURNS = 12, 90
LEGS = ("left_leg", "right_leg")
# How far a grasp is drawn back where the hand has no room as proposed, metres.
BACK_M = (0.0, 0.01, 0.02, 0.03, 0.045)
# Postures of the free arm that are tried.
ARMS = 10


@dataclass(frozen=True)
class Verdict:
    """Whether a free posture at the target was found; `why` not, in a word; postures that the exact checker saw."""

    feasible: bool
    why: str
    checks: int


@dataclass(frozen=True, eq=False)
class Target:
    """Where a hand's joint is to be (4, 4), the shape of its fingers, and the name of the grasp."""

    T: Array
    fingers: HandShape
    name: str = ""


def feasible(board: Storyboard, seed: int = 0) -> Verdict:
    """Judge the first task of a storyboard, and the put after a grab."""
    first = board.tasks[0]
    assert isinstance(first, Grab | Reach | Touch | Press)
    body = board.world.body(first.who)
    assert isinstance(body, Character)
    rng = np.random.default_rng([seed, 77])
    sampler, why, checks = Trunks(board.world, first.who, rng), "no way to take it is known", 0
    for hand in ("right", "left") if first.hand is None else (first.hand,):
        if isinstance(first, Grab):
            found, looked, reason = _taken(board, first, hand, sampler, rng)
        else:
            targets, thing = _targets(board.world, first, hand, rng)
            search = Search(sampler, board.world, hand, thing, rng)
            found, reason = next(search.free(targets), None) is not None, search.why
            looked = search.checks
        checks += looked
        if found:
            return Verdict(True, "", checks)
        why = reason or why
    return Verdict(False, why, checks)


def _taken(board: Storyboard, task: Grab, hand: str, trunks: Trunks, rng: np.random.Generator) -> tuple[bool, int, str]:
    """Whether some grasp can take the object and, where it is to be put down, put it there as well."""
    world, thing = board.world, task.object
    T_thing = world.frame(thing, 0.0)
    search = Search(trunks, world, hand, thing, rng)
    found = (_with_room(search, g, T_thing, thing) for g in grasps_of(world, task.who, hand, thing, 0.0))
    grasps = {g.name: g for g in found if g is not None}
    found = search.free([Target(T_thing @ g.T_thing_hand, g.open, g.name) for g in grasps.values()], each=True)
    put = next((t for t in board.tasks if isinstance(t, Put)), None)
    if put is None:
        return next(found, None) is not None, search.checks, search.why
    assert put.to is not None
    T_goal = T_thing.copy()
    T_goal[:3, 3] = put.to
    there = replace(world.objects[thing], path=Still(T_goal))
    later = Search(trunks, world.with_(objects={**world.objects, thing: there}), hand, thing, rng)
    for target in found:
        grasp = grasps[target.name]
        down = [Target(T_goal @ grasp.T_thing_hand, grasp.open, grasp.name)]
        if next(later.free(down, budget=CHECKS // 8), None) is not None:
            return True, search.checks + later.checks, ""
    return False, search.checks + later.checks, f"put: {later.why}" if later.why else search.why


def _with_room(search: Search, grasp: Grasp, T_thing: Array, thing: str) -> Grasp | None:
    """A proposed grasp if its open hand is free, or else drawn back until it is, if fingers and thumb still close.

    Grasps are proposed for a thing in empty space; a hand that would end in the board under it takes it higher up.
    """
    mesh = search.exact.world.objects[thing].mesh
    for back in BACK_M:
        T = grasp.T_thing_hand.copy()
        T[:3, 3] -= back * grasp.approach
        if not search.hand_bad(Target(T_thing @ T, grasp.open)):
            moved = replace(grasp, T_thing_hand=T)
            if not back:
                return moved
            closed = close_fingers(search.trunks.body, search.hand, inverse(T), mesh, grasp.open, grasp.shape)
            return moved if "thumb" in closed.touching and len(closed.touching) > 1 else None
    return None


def _targets(
    world: World, task: Reach | Touch | Press, hand: str, rng: np.random.Generator
) -> tuple[list[Target], str]:
    """Places of the hand that would do, and what it may touch there."""
    body = world.body(task.who)
    assert isinstance(body, Character)
    if isinstance(task, Reach):
        assert not isinstance(task.to, str)
        shape, grip = hand_shape(task.shape), grip_frame(body, hand)
        frame = np.tile(np.eye(4), (TURNS, 1, 1))
        frame[:, :3, :3] = rot.to_matrix(rot.normalize(rng.normal(size=(TURNS, 4))))
        frame[:, :3, 3] = task.to
        return [Target(T @ inverse(grip), shape) for T in frame], ""
    if isinstance(task, Press):
        spots, thing, shape_name = [world.frame(f"{task.fixture}.handle", 0.0)], task.fixture, "point"
    else:
        assert isinstance(task.target, str)
        spots, thing, shape_name = _spots(world, task.target, rng), task.target, task.shape
    ways = [way for spot in spots for way in press_target(body, hand, spot, shape_name)]
    return [Target(way.T_thing_hand, way.open, way.name) for way in ways], thing


def _spots(world: World, thing: str, rng: np.random.Generator) -> list[Array]:
    """Spots (4, 4) all over the surface of a thing, x out of it."""
    mesh = world.objects[thing].mesh.moved(world.frame(thing, 0.0))
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    normals = np.cross(b - a, c - a)
    area = np.linalg.norm(normals, axis=1)
    spots = []
    for k in rng.choice(len(area), SPOTS, p=area / area.sum()):
        x = normals[k] / area[k]
        side = np.cross([0.0, 0.0, 1.0], x) if abs(x[2]) < 0.95 else np.array([1.0, 0.0, 0.0])
        side = side / np.linalg.norm(side)
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = np.stack([x, side, np.cross(x, side)], axis=1), (a[k] + b[k] + c[k]) / 3.0
        spots.append(T)
    return spots


class Trunks:
    """Random postures of a body over its feet: roots (N, 3) and rotations (N, J, 4), the least bent first."""

    def __init__(self, world: World, who: str, rng: np.random.Generator) -> None:
        body = world.body(who)
        assert isinstance(body, Character)
        self.body, self.who, self.floor = body, who, world.floor or 0.0
        root, rotations = world.motion(who).sample(np.array([0.0]))
        self.pose = Pose.of(root[0], rotations[0])
        self.need = -np.inf
        self.roots, self.rotations = self._drawn(rng)
        self.T = body.skeleton.forward(self.roots, self.rotations)

    def inside(self, T: Array) -> Array:
        """How far centres of mass are inside of the support, metres, for joint transforms (..., J, 4, 4)."""
        if self.body.masses is None or not feet_of(self.body):
            return np.full(T.shape[:-3], np.inf)
        return margin_inside(contact_points(self.body, T, self.floor), center_of_mass(self.body, T)[..., :2])

    def _drawn(self, rng: np.random.Generator) -> tuple[Array, Array]:
        body, pose = self.body, self.pose
        T = body.skeleton.at(pose)
        self.need = min(MARGIN_M, float(self.inside(T)))
        front = T[0, :3, :3] @ body.T_rest[0, :3, :3].T @ body.front
        front = np.array([front[0], front[1], 0.0]) / np.hypot(front[0], front[1])
        left = np.cross([0.0, 0.0, 1.0], front)
        size = rng.random(DRAWN)  # how far from standing straight
        size[0] = 0.0
        terms = size[:, None] * np.stack(
            [rng.uniform(*LEAN, DRAWN), rng.uniform(-ASIDE, ASIDE, DRAWN), rng.uniform(-TURN, TURN, DRAWN)], axis=1
        )
        axes = np.stack([left, -front, [0.0, 0.0, 1.0]])
        share = rng.uniform(0.0, 0.7, DRAWN)[:, None]
        q = np.repeat(pose.rotations[None], DRAWN, axis=0)
        q[:, 0] = rot.multiply(rot.exp((share * terms) @ axes), pose.rotations[0])
        spine = [body.roles[r] for r in ("spine1", "spine2", "chest") if r in body.roles]
        for joint in spine:
            own = axes @ T[body.parents[joint], :3, :3]
            q[:, joint] = rot.multiply(rot.exp(((1.0 - share) * terms / len(spine)) @ own), pose.rotations[joint])
            q[:, joint] = _clamped(body, joint, q[:, joint])
        for role in ("left_clavicle", "right_clavicle"):
            joint = body.roles.get(role, -1)
            if joint > 0 and body.limits and body.limits[joint] is not None:
                turned = rot.exp(size[:, None] * rng.normal(0.0, 0.25, (DRAWN, 3)))
                q[:, joint] = _clamped(body, joint, rot.multiply(turned, pose.rotations[joint]))
        self._roots = self._pelvis(rng, size, terms[:, 0], front, left)
        # about the hips, wherever the rig has its root
        thighs = [body.roles[r] for r in ("left_thigh", "right_thigh") if r in body.roles]
        arm = pose.root - T[thighs, :3, 3].mean(axis=0) if thighs else np.zeros(3)
        self._roots += rot.rotate(rot.exp((share * terms) @ axes), arm) - arm
        good = self._legs(q, T)
        order = np.flatnonzero(good)
        order = order[np.argsort(size[order], kind="stable")]
        return self._roots[order], q[order]

    def _pelvis(self, rng: np.random.Generator, size: Array, lean: Array, front: Array, left: Array) -> Array:
        """Where the root is, (N, 3): back as the trunk leans forwards, more or less, and lower."""
        body, n = self.body, len(size)
        legs = [LimbIK(body, name, self.pose) for name in LEGS if name in body.chains]
        length = min((leg.reach[1] for leg in legs), default=0.0)
        down = size * rng.uniform(0.0, DROP, n) * length * (rng.random(n) < 0.6)
        fore, side = (size * rng.uniform(-s, s, n) for s in SHIFT)
        fore -= 0.15 * lean * rng.random(n)
        return self.pose.root + fore[:, None] * front + side[:, None] * left - down[:, None] * [0.0, 0.0, 1.0]

    def _legs(self, q: Array, T: Array) -> Array:
        """Stand each posture on its feet; which of them stand so, in balance but for the arm."""
        body, pose = self.body, self.pose
        good = np.ones(len(q), dtype=bool)
        places = body.skeleton.forward(self._roots, q)
        for leg in (LimbIK(body, name, pose) for name in LEGS if name in body.chains):
            orbit, keep = leg.describe(T[leg.parent], pose.rotations[list(leg.joints)])
            forwards = Keep(keep.off_axis, keep.twist, np.zeros_like(keep.backwards))
            usual = leg.solve(T[leg.parent], T[leg.joints[2]], orbit, forwards).excess
            out = leg.solve(places[:, leg.parent], T[leg.joints[2]], orbit, forwards)
            q[:, list(leg.joints)] = out.rotations
            good &= out.reached & np.all(out.excess <= usual + SLACK_RAD, axis=-1)
        places = body.skeleton.forward(self._roots, q)
        return good & (self.inside(places) >= self.need - 0.06)


def _clamped(body: Character, joint: int, q: Array) -> Array:
    limit = body.limits[joint] if body.limits else None
    return q if limit is None else limit.clamp(q)


class Search:
    """Postures of one hand in one world, as the exact checker sees them."""

    def __init__(self, trunks: Trunks, world: World, hand: str, thing: str, rng: np.random.Generator) -> None:
        self.trunks, self.hand, self.rng, self.checks, self.why = trunks, hand, rng, 0, ""
        body, who = trunks.body, trunks.who
        always = (-np.inf, np.inf)
        self.arm = LimbIK(body, f"{hand}_arm", trunks.pose)
        self.hand_joints = body.subtree(self.arm.joints[2])
        names = dict.fromkeys(f"{who}.{s.name}" for s in body.shapes if s.joint in self.hand_joints)
        grips = [Contact(name, thing, always, "grip", TOUCH_M) for name in names] if thing else []
        self.exact = ExactWorld(world.with_(contacts=(*world.contacts, *supports(world), *grips)))
        self.now = world.at(0.0)
        self.mine = np.array([p.owner == who for p in self.exact.parts])
        both = self.mine[self.exact.index]
        self.counts, self.own = both.any(axis=1), both.all(axis=1)
        self.counts[list(self._bad(trunks.body.skeleton.at(trunks.pose), self.own))] = False
        other = f"{'left' if hand == 'right' else 'right'}_upper_arm"
        self.free_arm = body.subtree(body.roles[other]) if other in body.roles else ()

    def free(self, targets: Sequence[Target], each: bool = False, budget: int = CHECKS) -> Iterator[Target]:
        """Targets at which some posture is free: the first one, or with `each` all of them, once each.

        `budget` is how many postures are looked at.
        """
        targets = [targets[k] for k in self.rng.permutation(len(targets))[: TARGETS if not each else None]]
        if not targets:
            self.why = "no way to take it is known"
            return
        arm, trunks = self.arm, self.trunks
        angles = np.linspace(-np.pi, np.pi, ORBITS, endpoint=False)
        open_ = [t for t in targets if not self.hand_bad(t)]
        if not open_:
            self.why = "there is no room for the hand"
            return
        T = np.stack([t.T for t in open_])
        near = self._near(T[:, :3, 3])
        out = arm.solve(trunks.T[near][:, None, None, arm.parent], T[None, :, None], angles)
        usual = np.maximum(self._usual(), 0.0)
        good = np.argwhere(out.reached & np.all(out.excess <= usual + 1e-9, axis=-1))
        self.why = "no free posture" if len(good) else "out of reach"
        rank = good[:, 0] / max(len(near), 1) + self.rng.random(len(good))
        done = set()
        for n, g, k in good[np.argsort(rank, kind="stable")]:
            if g in done:
                continue
            if budget <= 0:
                return
            budget -= 1
            q = trunks.rotations[near[n]].copy()
            q[list(arm.joints)] = out.rotations[n, g, k]
            if self._stands_free(trunks.roots[near[n]], q, open_[g]):
                done.add(g)
                yield open_[g]
                if not each:
                    return

    def _near(self, points: Array) -> NDArray[np.int64]:
        """Numbers of the trunks whose shoulder is within an arm of some of the points (N, 3); no more than `TRUNKS`."""
        shoulders = self.trunks.T[:, self.arm.joints[0], :3, 3]
        far = np.linalg.norm(shoulders[:, None] - points[None], axis=-1).min(axis=1)
        near = np.flatnonzero(far < self.arm.reach[1])
        return np.sort(self.rng.permutation(near)[:TRUNKS])

    def _usual(self) -> Array:
        """How far the arm is out of its ranges as the person stands, (3,)."""
        body, pose = self.trunks.body, self.trunks.pose
        found = [body.limits[j] if body.limits else None for j in self.arm.joints]
        return np.array(
            [
                0.0 if limit is None else float(limit.excess(pose.rotations[j]))
                for limit, j in zip(found, self.arm.joints, strict=True)
            ]
        )

    def _stands_free(self, root: Array, q: Array, target: Target) -> bool:
        """Whether a posture with the fingers of a target is in balance and free, the free arm where it may be."""
        body = self.trunks.body
        self._close(q, target)
        T = np.array(body.skeleton.forward(root[None], q[None])[0])
        if self.trunks.inside(T) < self.trunks.need:
            return False
        self.checks += 1
        bad = self._bad(T, self.counts)
        if not bad:
            return True
        arm = np.zeros(len(self.exact.parts), dtype=bool)
        arm[[i for i, p in enumerate(self.exact.parts) if p.owner == self.trunks.who and p.joint in self.free_arm]] = (
            True
        )
        if not self.free_arm or not all(arm[self.exact.index[k]].any() for k in bad):
            return False
        for _ in range(ARMS):
            for joint in self.free_arm[:2]:  # upper arm and what follows it
                limit = body.limits[joint] if body.limits else None
                if limit is not None:
                    usual = self.trunks.pose.rotations[joint]
                    q[joint] = rot.slerp(usual, limit.sample(self.rng, 1)[0], self.rng.uniform(0.1, 0.8))
            T = np.array(body.skeleton.forward(root[None], q[None])[0])
            if self.trunks.inside(T) >= self.trunks.need and not self._bad(T, self.counts):
                return True
        return False

    def _close(self, q: Array, target: Target) -> None:
        joints = list(finger_joints(self.trunks.body, self.hand))
        q[joints] = finger_rotations(self.trunks.body, self.hand, target.fingers)

    def hand_bad(self, target: Target) -> bool:
        """Whether the hand alone, at its target, is in something."""
        body, q = self.trunks.body, self.trunks.pose.rotations.copy()
        self._close(q, target)
        T = np.array(body.skeleton.forward(self.trunks.pose.root[None], q[None])[0])
        joints = list(self.hand_joints)
        T[joints] = target.T @ inverse(T[self.arm.joints[2]]) @ T[joints]
        parts = self.exact.parts
        moved = np.array([p.owner == self.trunks.who and p.joint in self.hand_joints for p in parts])
        both = moved[self.exact.index]
        return bool(self._bad(T, self.counts & both.any(axis=1) & ~self.own))

    def _bad(self, T: Array, among: Array) -> list[int]:
        """Numbers of the pairs that collide with joints at T (J, 4, 4)."""
        snapshot = Snapshot(self.now.time, {**self.now.joints, self.trunks.who: T}, self.now.things)
        exact = self.exact.place_snapshot(snapshot)
        near = exact.near(0.0)
        bad = []
        for k in near[among[near]].tolist():
            if exact.hit(k):
                value = exact.distance(k).value if k in exact.contacts else None
                if value is None or exact.allowed(k, -value) is None:
                    bad.append(k)
        return bad
