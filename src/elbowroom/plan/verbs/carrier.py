"""One person who moves an object: grips, approach, carrying, and release (Y1 to Y6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise

import numpy as np

from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import UP, Array, angle_between, normalize, slerp
from elbowroom.geometry.transforms import inverse
from elbowroom.motion.posture_db import PostureDatabase
from elbowroom.plan.checks.hands import hand_of, joints_of, released, shifted
from elbowroom.plan.checks.margins import BETWEEN_M
from elbowroom.plan.checks.places import resting, supported, supported_until
from elbowroom.plan.checks.postures import PRESS, hand_contacts
from elbowroom.plan.repair.arm_paths import LimbTrajectory
from elbowroom.plan.state.result import PlanningFailure, blamed, first_of, tried
from elbowroom.plan.steps import acting
from elbowroom.plan.steps.limb_path import GAZE_ARRIVES, GAZE_ROLES
from elbowroom.plan.verbs.carry_path import FREED_RAD, CarriedFrames
from elbowroom.plan.verbs.grips import edge_grips, grips_on, ranked_grips
from elbowroom.plan.verbs.holding import PULLS, Grips, Holding
from elbowroom.posing.gaze import gazing
from elbowroom.world.own_pairs import tissue_contacts
from elbowroom.world.pairs import Pair
from elbowroom.world.things import FOREVER

# Grips that are examined without recordings; with recordings, for each of their weights; and tried of either. Of
# benchmarks/object_moves.py, moves that succeed with the lesser weight do so with one of the first three grips.
_LOOKS = 12
_GUIDED_LOOKS = dict(zip(PULLS, (8, 4), strict=True))
_TRIES = 3
# Approach distance of hands beside the object, and their retreat before they return, metres.
_BESIDE_M = 0.08
# Shares of that time at which the body must be free, and the largest rotation of a joint from one frame to the next.
_STRAIGHT = (0.25, 0.5, 0.75)
_LEAP_RAD = 0.4
# Shortest motion of hands, seconds: the whole body moves along.
_LEAST_S = 0.8
# Via points of hands without a straight path: above an object and nearer to the body, to it and back, shares of height.
_OVER, _NEARER, _DRAWN_BACK = 0.18, 0.1, 0.2
# Ways of hands to an object and back: above it first, straight, and with the rest of the body free in every frame.
_WAYS = (
    (False, True, True),
    (True, True, True),
    (False, False, True),
    (True, False, True),
    (False, True, False),
    (True, True, False),
)
# Shares of the gaze's turn that are tried, and shares of the time after which it arrives: a head that looks at the
# object may be in the way of a shoulder, and looks ahead soon then.
_GAZES = ((1.0, GAZE_ARRIVES), (0.5, GAZE_ARRIVES), (0.0, GAZE_ARRIVES), (0.0, 0.1))


@dataclass(frozen=True, eq=False)
class Option:
    """A grip at start and goal, the posture with open hands before it, and recordings to follow with their weight."""

    grips: Grips
    before: Pose
    start: Pose
    goal: Pose
    guided: tuple[PostureDatabase | None, float]


class Carrier(Holding):
    """A character that moves an object."""

    # Ends at which the object has to be held, in the order in which they are checked.
    _ends: Sequence[str] = ("start", "goal")

    def options(self, hands: Sequence[str]) -> Iterator[Option]:
        """Grips on the object at its start and at its goal, the easiest first."""
        ranked = self.ranked(hands)
        failed: list[PlanningFailure] = []
        given = 0
        guides = [database for _, database, _ in self.fits(ranked[0])]
        for guide, pull in (*((guide, pull) for pull in PULLS for guide in guides), (None, 0.0)):
            self.guided = guide, pull
            looks = ranked[: _GUIDED_LOOKS.get(pull, _LOOKS)]
            options = (self.option(grips, failed) for grips in looks)
            for option in islice((option for option in options if option is not None), _TRIES):
                given += 1
                yield option
        if not given:
            failed += self._without_balance(ranked[0]) if failed[0].status == "out-of-balance" else ()
            raise next((stuck for stuck in failed if stuck.status == "too-heavy"), failed[0])

    def _without_balance(self, grips: Grips) -> list[PlanningFailure]:
        """Reasons why the object cannot be held even without balance.

        A load pulls people off their feet before their joints give way, and feet elsewhere would not help against its
        weight.
        """
        support, self.support = self.support, None
        stuck = tried(lambda: self.held_at(grips, self.T_start, self.actor.pose))
        self.support = support
        return [stuck] if isinstance(stuck, PlanningFailure) else []

    def ranked(self, hands: Sequence[str]) -> list[Grips]:
        """Grips on the object, the easiest first, whether feasible or not."""
        return ranked_grips(self, hands, self._grips(hands), _LOOKS)

    def _grips(self, hands: Sequence[str]) -> list[Grips]:
        """Grips to choose from; an object too wide for two palms is taken by its edge, where hands have room there."""
        found = grips_on(self, hands)
        if found or len(hands) == 1:
            return found
        return [grips for grips in edge_grips(self) if self.carried_blame(grips, self.T_start, 0.0) is None]

    def option(self, grips: Grips, failed: list[PlanningFailure]) -> Option | None:
        """Hold the object so at its start and at its goal; None, with the reason in `failed`, where that cannot be."""
        found = tried(lambda: self._option(grips))
        if isinstance(found, PlanningFailure):
            failed.append(found)
            return None
        return found

    def _option(self, grips: Grips) -> Option:
        held: dict[str, Pose] = {}
        for end in self._ends:
            self._ends = sorted(self._ends, key=lambda other: other != end)  # the one that fails is next time first
            held[end] = self.held_at(grips, self.T_start if end == "start" else self.T_goal, self.actor.pose)
        start, goal = held["start"], held["goal"]
        before = self.beside(grips, self.T_start, start, _BESIDE_M)
        after = self.beside(grips, self.T_goal, goal, _BESIDE_M)
        self._require_straight(grips, self.T_start, before, start)
        self._require_straight(grips, self.T_goal, after, goal)
        return Option(grips, before, start, goal, self.guided)

    def after(self, option: Option, last: Pose) -> Pose:
        """A posture with open hands before the object at its goal, near that with which it arrived, or the option's."""

        def beside(near: Pose) -> Pose:
            after = self.beside(option.grips, self.T_goal, near, _BESIDE_M)
            self._require_straight(option.grips, self.T_goal, after, last)
            return after

        return first_of((last, option.goal), beside)

    def approach(self, option: Option) -> None:
        """Move open hands to where the approach to the object starts."""
        opened = self.fingers(option.grips, closed=False)
        self.go(option.grips, option.before, opened, f"reach {self.thing}", self.T_start, self.T_start[:3, 3])

    def take(self, option: Option) -> None:
        """Move hands straight to the object, and close them."""
        self._allow_hands(option.grips)
        self.straight(option.grips, self.T_start, option.start, f"take {self.thing}", away=False)
        self._turn_fingers(option.grips, closed=True)

    def leave(self, grips: Grips, after: Pose) -> None:
        """Open the hands, move them straight off the object to a posture, and back to the base motion."""
        self._allow_hands(grips)
        self._turn_fingers(grips, closed=False)
        self.straight(grips, self.T_goal, after, f"leave {self.thing}", away=True)
        self.back(grips)

    def wait(self, k: int) -> None:
        """Stand still until frame k."""
        actor = self.actor
        count = k - actor.k
        if count > 0:
            root, q = np.repeat(actor.root[-1:], count + 1, axis=0), np.repeat(actor.q[-1:], count + 1, axis=0)
            acting.add(self.d, actor, root, q, away=actor.away)

    def let_go(self, grips: Grips, under: Sequence[str]) -> None:
        """End the grips at the goal, on the object's support there."""
        for hand in grips.grasps:
            self.d.world = released(self.d.world, self.thing, self.actor.now, self.actor.who, under)
            self.actor.unpin(hand)

    def say_fit(self, grips: Grips) -> None:
        """Note which recordings were followed, how well they fit (Y10), and which fit better without success."""
        note, failed = f"{self.what}: no recorded postures were used", []
        for far, database, answer in self.fits(grips):
            if database is self.guided[0]:
                note = (
                    f"{self.what}: follows recorded postures ({answer.database}, nearest take {answer.take}); hands "
                    f"and feet are {100 * far:.0f} cm from recorded ones at most, where postures are usually "
                    f"{100 * answer.expected_error_m:.0f} cm off"
                )
                break
            failed.append(f"{answer.database} ({100 * far:.0f} cm)")
        if failed:
            note += f"; with {', '.join(failed)} no collision-free motion was found"
        self.d.world = self.d.world.with_(notes=(*self.d.world.notes, note))

    def allow_folds(self, first: int) -> None:
        """Allow belly and thighs to press each other from a frame on, as deep as in the most folded posture."""
        d, actor = self.d, self.actor
        rows = slice(first, actor.k + 1)
        T = actor.body.transforms(actor.root[rows], actor.q[rows])
        during = (actor.time(first), actor.now)
        d.allow(tissue_contacts(actor.body, actor.who, during, d.world.caps.tissue, T))

    def hold(self, grips: Grips) -> None:
        """Let the hands hold the object from now on."""
        d, actor = self.d, self.actor
        for hand in grips.grasps:
            actor.keep(joints_of(actor, hand))
            actor.pin(hand)
            T_hand = hand_of(actor, hand, actor.pose)
            d.world = d.world.with_hold(
                self.thing, actor.who, hand, (actor.now, FOREVER), inverse(T_hand) @ self.T_start
            )

    def play(self, grips: Grips, path: CarriedFrames) -> None:
        """Add the frames of the carry; the object touches its supports only while it is lifted and set down."""
        d, actor, begun = self.d, self.actor, self.actor.k
        under = resting(d.world, self.thing, actor.now)
        goal_under = resting(d.world, self.thing, actor.now, self.T_goal)
        self._add(grips, path.root, path.rotations, f"carry {self.thing}", path.places, path.checks, self.T_goal[:3, 3])
        off, on = (-np.inf, actor.time(begun + path.lifted)), (actor.time(begun + path.set_down), FOREVER)
        d.world = supported_until(d.world, self.thing, under, off[1])
        d.allow([*supported(self.thing, under, off), *supported(self.thing, goal_under, on)])

    def _allow_hands(self, grips: Grips) -> None:
        """Allow hands to touch the object while they move straight to or from it."""
        d, actor = self.d, self.actor
        closing = actor.frames(d.settings.close) if grips.closes else 0
        during = (actor.now, actor.time(actor.k + self._straight_frames + closing))
        for hand in grips.grasps:
            d.allow(hand_contacts(d.world, actor.who, hand, self.thing, during, PRESS))

    @property
    def _straight_frames(self) -> int:
        return self.actor.frames(_BESIDE_M / self.d.settings.slow)

    def _turn_fingers(self, grips: Grips, *, closed: bool) -> None:
        """Close fingers on the object, or open them; palms that press it stay flat."""
        if grips.closes:
            acting.move_fingers(self.d, self.actor, self.fingers(grips, closed=closed), self.d.settings.close)

    def back(self, grips: Grips) -> None:
        """Return the hands to the base motion."""
        actor = self.actor
        mine = [j for hand in grips.grasps for j in joints_of(actor, hand)]
        goal = actor.neutral(actor.k + actor.frames(1.0), mine)
        fingers = {h: goal.rotations[list(finger_joints(actor.body, h))] for h in grips.grasps}
        self.go(grips, goal, fingers, f"leave {self.thing}", self.T_goal)
        actor.give_back(tuple(mine))

    def go(
        self, grips: Grips, goal: Pose, fingers: Mapping[str, Array], what: str, T_object: Array,
        focus: Array | None = None,
    ) -> None:  # fmt: skip
        """Hands go to a posture, or back from one: straight, over the object, or as a search finds, the first that
        is free; straight where only the rest of the body is not, which repair may help.

        Without a `focus` (3,) to look at they go back to the base motion.
        """
        stuck: PlanningFailure | None = None
        met: list[bool] = []
        begun = self.actor.k

        def go(above: bool, straight: bool, strict: bool) -> None:
            for pose in self._stations(grips, goal, T_object, focus is not None, above=above):
                self._travel(grips, pose, fingers, what, T_object, focus, straight=straight)
            if strict and self._met_since(grips, begun, T_object):
                met.append(above)
                raise PlanningFailure("no-path", f"{self.what}: the body collides along the path of its hands")

        for above, straight, strict in _WAYS:
            if strict == (above in met):
                continue
            failed = self.d.attempt(partial(go, above, straight, strict))
            if failed is None:
                return
            stuck = failed if stuck is None or not above else stuck
        assert stuck is not None
        raise stuck

    def _stations(self, grips: Grips, goal: Pose, T_object: Array, there: bool, *, above: bool) -> list[Pose]:
        """Postures by which hands go to one: that alone, or first one with the hands above the object."""
        if not above:
            return [goal]
        actor = self.actor
        to_body = normalize((actor.pose.root - T_object[:3, 3]) * [1.0, 1.0, 0.0])
        nearer = (_NEARER if there else _DRAWN_BACK) * to_body
        over = shifted(T_object, actor.body.height * (_OVER * UP + nearer))
        return [self.beside(grips, over, goal if there else actor.pose, _BESIDE_M, T_object), goal]

    def _travel(
        self, grips: Grips, pose: Pose, fingers: Mapping[str, Array], what: str, T_object: Array, focus: Array | None,
        *, straight: bool,
    ) -> None:  # fmt: skip
        """Hands go to a posture, the gaze to a point (3,) unless the head would collide then."""
        looking = self.d.looking(self.actor, pose, focus)
        hands = self.postures(grips, closed=False)
        met = hands.blame(looking, {self.thing: T_object}, room=BETWEEN_M, own_room=False) is not None
        self.travel(pose if met else looking, fingers, what, away=focus is not None, straight=straight)

    def _met_since(self, grips: Grips, first: int, T_object: Array) -> bool:
        """Return whether the body collides with something else since a frame: on the way of hands only arms were
        checked. Legs that meet each other give way later, whatever hands do."""
        root, q = self.actor.root[first:], self.actor.q[first:]
        met = self._met(grips, root, q, np.tile(T_object, (len(q), 1, 1)), closed=False)
        return met is not None and not all(name.startswith(f"{self.actor.who}.") for name in met)

    def travel(self, goal: Pose, fingers: Mapping[str, Array], what: str, *, away: bool, straight: bool) -> None:
        """Move hands to a posture, the body directly, each arm straight or by its tiers."""
        d, actor = self.d, self.actor
        ways = [
            float(np.linalg.norm(hand_of(actor, h, goal)[:3, 3] - hand_of(actor, h, actor.pose)[:3, 3]))
            for h in fingers
        ]
        far = max(*ways, float(np.linalg.norm(goal.root - actor.pose.root)))
        count = actor.frames(max(d.seconds_for(far), _LEAST_S))
        acting.travel(d, actor, fingers, goal, count, what, "straight" if straight else "any", back=not away)

    def straight(self, grips: Grips, T_object: Array, end: Pose, what: str, *, away: bool) -> None:
        """Move hands straight to the object, or off it, the body to a posture `end`."""
        before, there = (end, self.actor.pose) if away else (self.actor.pose, end)
        poses = self._straight_poses(grips, T_object, before, there)[:: -1 if away else 1]
        root, q = (np.array([getattr(pose, part) for pose in poses]) for part in ("root", "rotations"))
        root[0], q[0] = self.actor.pose.root, self.actor.pose.rotations
        self._add(grips, root, q, what, np.tile(T_object, (len(root), 1, 1)))

    def _straight_poses(self, grips: Grips, T_object: Array, before: Pose, there: Pose) -> list[Pose]:
        """Postures at the frames in which hands move straight to the object; raises where a joint leaps."""
        poses = []
        for share in smoothstep(np.linspace(0.0, 1.0, self._straight_frames + 1)):
            root = before.root + share * (there.root - before.root)
            near = Pose.of(root, slerp(before.rotations, there.rotations, share))
            targets = grips.targets(self.actor, T_object, (1.0 - share) * _BESIDE_M)
            poses.append(self.along(targets, near, T_object, loaded=False))
        for a, b in pairwise(poses):
            if angle_between(a.rotations, b.rotations).max() > _LEAP_RAD:
                raise PlanningFailure("no-path", f"{self.what}: an arm of {self.actor.who} would jump along the path")
        return poses

    def _require_straight(self, grips: Grips, T_object: Array, before: Pose, there: Pose) -> None:
        """Raise where the body collides while hands move straight to the object at a placement (4, 4)."""
        postures, poses = self.postures(grips, closed=False), self._straight_poses(grips, T_object, before, there)
        for share in _STRAIGHT:
            met = postures.blame(poses[round(share * (len(poses) - 1))], {self.thing: T_object})
            if met is not None:
                raise PlanningFailure("target-in-collision", f"{self.what}: {blamed(met)}")

    def _add(
        self, grips: Grips, root: Array, q: Array, what: str, places: Array, checks: int = 0, focus: Array | None = None
    ) -> None:
        """Add frames of the whole body with the object at placements (N, 4, 4), fingers unchanged.

        The gaze goes to a point (3,), or stays; less so where neck and shoulders would collide.
        """
        d, actor = self.d, self.actor
        fingers = [j for hand in ("left", "right") for j in finger_joints(actor.body, hand)]
        q[:, fingers] = actor.q[-1][fingers]
        looks = [actor.body.roles[role] for role in GAZE_ROLES if role in actor.body.roles]
        ahead, q[:, looks] = q[:, looks].copy(), actor.q[-1][looks]
        wanted = q[:, looks].copy()
        if focus is not None:
            wanted = gazing(actor.body, root, q, np.tile(focus, (len(q), 1)), np.ones(len(q)))[:, looks]
        for share, arrives in _GAZES:
            turning = smoothstep(np.linspace(0.0, 1.0, len(q)) / arrives)[:, None]
            q[:, looks] = slerp(q[:1, looks], slerp(ahead, wanted, share), turning)
            if self._met(grips, root, q, places) is None:
                break
        else:
            self._free_frames(grips, root, q, places)
        acting.add(d, actor, root, q)
        during = (actor.time(actor.k - len(root) + 1), actor.now)
        *_, last = grips.grasps
        for hand in grips.grasps:
            arm = list(actor.body.chain(f"{hand}_arm").joints)
            way = LimbTrajectory(q[:, arm], "plan" if checks else "ik", checks=checks)
            d.note(actor, f"{hand}_arm", what, during, way, whole=hand == last)

    def _met(self, grips: Grips, root: Array, q: Array, places: Array, *, closed: bool = True) -> Pair | None:
        """A pair that collides in frames, roots (N, 3) and rotations (N, J, 4), the object at places (N, 4, 4), or
        between them.
        """
        postures = self.postures(grips, closed=closed)
        for r, turns, T in zip(root, q, places, strict=True):
            met = postures.blame(Pose.of(r, turns), {self.thing: T}, room=BETWEEN_M, own_room=False)
            if met is not None:
                return met
        return self.met_between(postures, root, q, places)

    def _free_frames(self, grips: Grips, root: Array, q: Array, places: Array) -> None:
        """Turn elbows and shoulders of frames in which an arm is not free, in place and by little, where that helps.

        What is left is for the proof to judge: flesh may give way there as in the most folded frame.
        """
        for k in range(1, len(q)):
            met = self._met(grips, root[k : k + 1], q[k : k + 1], places[k : k + 1])
            if met is not None and any(name.startswith(f"{self.actor.who}.") and "arm" in name for name in met):
                found = self.freed(self.postures(grips), Pose.of(root[k], q[k]), places[k], FREED_RAD)
                q[k] = q[k] if isinstance(found, Pair) else found.rotations
