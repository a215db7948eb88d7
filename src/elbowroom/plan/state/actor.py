"""A character while tasks are worked into its motion, frame by frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array, continuous
from elbowroom.motion.clip import Clip
from elbowroom.motion.layers import held, to_clip
from elbowroom.plan.tasks import Support
from elbowroom.posing.kneeling import Kneeling
from elbowroom.world.world import World

# A root that stays within this share of the body's height of its first position belongs to a standing character.
_STANDS = 0.12
# Last frame of a contact that has no end yet.
_OPEN = 10**9


def stands(clip: Clip) -> bool:
    """Return whether a character stays in place, and so can stand there for as long as needed."""
    stray = np.linalg.norm(clip.root - clip.root[0], axis=1).max()
    return bool(stray < _STANDS * clip.character.height)


@dataclass(frozen=True, eq=False)
class HandSupport:
    """A hand that bears weight: task's support, joint transform (4, 4), corners (4, 2) under the palm, and the posture
    in which it was put there, balanced without it."""

    given: Support
    T_world_hand: Array
    corners: Array
    placed: Pose

    @property
    def end(self) -> str:
        """Role of the hand's joint."""
        return f"{self.given.hand}_hand"


@dataclass(frozen=True, eq=False)
class Track:
    """Motion of one character while tasks are worked into it: final frames, and what follows without further tasks.

    `root` (k + 1, 3) and `q` (k + 1, J, 4) are the final frames. Timed tasks change frames of the `base` itself;
    `original` is the unchanged base. A standing character (`stands`) keeps the last posture that a task has left
    (`away`); a walking one walks on, and only the joints in `kept` (local rotation (4,) by joint) stay as a task has
    left them. `layered`: body help is added to the base while the legs follow it. `trunk`: the trunk may help. `left`:
    remainders of a paused base and original, from the held frame on. `over`: all further tasks are layered over
    finished motions. `free_from`: by hand, the first frame that the next task may change. `contacts`: by hand, the
    frames in which it is at its target. `support`: the hand that bears weight; `knee`: the knee that does, both legs
    staying as they are; `descent`: the frames by which the body came down to it.
    """

    base: Clip
    original: Clip
    root: Array
    q: Array
    stands: bool
    layered: bool
    trunk: bool = True
    over: bool = False
    away: bool = False
    kept: Mapping[int, Array] = field(default_factory=dict)
    free_from: Mapping[str, int] = field(default_factory=dict)
    contacts: tuple[tuple[str, int, int], ...] = ()
    support: HandSupport | None = None
    knee: Kneeling | None = None
    descent: tuple[Array, Array] | None = None
    left: tuple[Clip, Clip] | None = None

    def __post_init__(self) -> None:
        for name in ("root", "q"):
            if getattr(self, name).flags.writeable:
                object.__setattr__(self, name, frozen(getattr(self, name)))

    @classmethod
    def of(cls, world: World, who: str, fps: float) -> Track:
        """The track of a character of a world; `fps` is the frame rate of a motion that is not a clip."""
        motion = world.motion(who)
        if not isinstance(motion.body, Character):
            raise BadValue(
                f"'{who}' is not a person: tasks need a person, and the first of several carriers must be one."
            )
        base = motion if isinstance(motion, Clip) else to_clip(motion, fps)
        return cls(base, base, base.root[:1], base.rotations[:1], stands(base), not stands(base))


T = TypeVar("T")


class _Of(Generic[T]):
    """A field of an actor's track in the current take."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, actor: Actor, owner: type) -> T:
        value: T = getattr(actor.track, self._name)
        return value


class Stage(Protocol):
    """Keeper of the current tracks of its actors."""

    @property
    def tracks(self) -> Mapping[str, Track]:
        """Tracks by character."""

    def follow(self, who: str, track: Track) -> None:
        """Make a track the current one of a character."""


@dataclass
class _Rehearsal:
    """A stage beside that of the director."""

    tracks: dict[str, Track]

    def follow(self, who: str, track: Track) -> None:
        """Make a track the current one of a character."""
        self.tracks[who] = track


class Actor:
    """A character on a stage: reads its current track, and replaces it by the next one.

    Frames up to number `k` are final.
    """

    base, original, root, q = _Of[Clip](), _Of[Clip](), _Of[Array](), _Of[Array]()
    stands, layered, trunk, over, away = _Of[bool](), _Of[bool](), _Of[bool](), _Of[bool](), _Of[bool]()
    kept, free_from = _Of[Mapping[int, Array]](), _Of[Mapping[str, int]]()
    contacts = _Of[tuple[tuple[str, int, int], ...]]()
    support, knee = _Of[HandSupport | None](), _Of[Kneeling | None]()
    descent, left = _Of[tuple[Array, Array] | None](), _Of[tuple[Clip, Clip] | None]()

    def __init__(self, stage: Stage, who: str) -> None:
        self.stage, self.who = stage, who

    @property
    def track(self) -> Track:
        """The current track."""
        return self.stage.tracks[self.who]

    def change(self, **fields: Any) -> None:
        """Replace fields of the track."""
        self.stage.follow(self.who, replace(self.track, **fields))

    @classmethod
    def alone(cls, who: str, track: Track) -> Actor:
        """An actor on a stage of its own, to see what would be from there."""
        return cls(_Rehearsal({who: track}), who)

    @property
    def body(self) -> Character:
        """The character's body."""
        return self.base.character

    @property
    def k(self) -> int:
        """Number of the last final frame."""
        return len(self.q) - 1

    @property
    def upper(self) -> NDArray[np.bool_]:
        """Mask of joints (J,) above the legs, without the root."""
        body = self.body
        legs = {j for chain in body.chains.values() if chain.kind == "leg" for j in body.subtree(chain.joints[0])}
        return np.array([j != 0 and j not in legs for j in range(len(body.parents))])

    def on_top(self, busy: Iterable[tuple[str, tuple[float, float]]]) -> None:
        """Layer all further tasks over the base; `busy` has intervals (s) by hand in which the base uses it."""
        contacts = tuple((hand, self.frame(begin), self.frame(end)) for hand, (begin, end) in busy)
        self.change(stands=False, layered=True, over=True, contacts=contacts)

    def time(self, k: int) -> float:
        """Time of a frame, seconds."""
        return self.base.start + k / self.base.fps

    def frame(self, t: float) -> int:
        """First frame at or after a time."""
        return int(np.ceil((t - self.base.start) * self.base.fps - 1e-6))

    def frames(self, seconds: float) -> int:
        """Number of frames that cover a duration, at least one."""
        return max(round(seconds * self.base.fps), 1)

    def times(self, count: int) -> Array:
        """Times (count + 1,) starting at the last final frame."""
        return self.base.start + (self.k + np.arange(count + 1)) / self.base.fps

    @property
    def idle(self) -> bool:
        """Return whether nothing is left of the base but to stand, for as long as needed."""
        return self.stands and self.k >= len(self.base) - 1

    @property
    def now(self) -> float:
        """Time of the last final frame, seconds."""
        return self.time(self.k)

    @property
    def pose(self) -> Pose:
        """Pose of the last final frame."""
        return Pose.of(self.root[-1], self.q[-1])

    def neutral(self, k: int, free: Sequence[int] = ()) -> Pose:
        """Pose that the character would have at a frame without further tasks; arms stay where a task has left them.

        Joints in `free` follow the base.
        """
        row = min(k, len(self.base) - 1)
        return Pose.of(self.base.root[row], self.keeping(self.base.rotations[row], free))

    def keeping(self, rotations: Array, free: Sequence[int] = ()) -> Array:
        """Rotations (..., J, 4) with joints as a task has left them, except those in `free`."""
        q = np.array(rotations)
        for joint, turn in self.kept.items():
            if joint not in free:
                q[..., joint, :] = turn
        return q

    def ahead(self, count: int) -> tuple[Array, Array]:
        """Roots (count + 1, 3) and rotations (count + 1, J, 4) from the last final frame on, without further tasks."""
        if self.away and self.stands:
            return np.repeat(self.root[-1:], count + 1, axis=0), np.repeat(self.q[-1:], count + 1, axis=0)
        rows = np.minimum(self.k + np.arange(count + 1), len(self.base) - 1)
        root, q = self.base.root[rows].copy(), self.keeping(self.base.rotations[rows])
        root[0], q[0] = self.root[-1], self.q[-1]
        return root, q

    def done(self, root: Array, q: Array, *, away: bool = True) -> None:
        """Append final frames: roots (N + 1, 3) and rotations (N + 1, J, 4), starting with the last final frame."""
        now = np.concatenate([self.root, root[1:]]), np.concatenate([self.q, q[1:]])
        self.change(root=now[0], q=now[1], away=away, free_from=dict.fromkeys(("left", "right"), len(now[1]) - 1))

    def keep(self, joints: tuple[int, ...]) -> None:
        """Keep these joints as in the last final frame from now on, even while the base walks."""
        self.change(kept={**self.kept, **{j: self.q[-1, j] for j in joints}})

    def give_back(self, joints: tuple[int, ...]) -> None:
        """Let these joints follow the base again."""
        self.change(kept={j: turn for j, turn in self.kept.items() if j not in joints})

    def pin(self, hand: str) -> None:
        """Mark a hand as being at its target from now until `unpin`."""
        self.change(contacts=(*self.contacts, (hand, self.k, _OPEN)))

    def unpin(self, hand: str) -> None:
        """End the contact of a hand with its target at the last final frame."""
        self.change(contacts=tuple((h, a, min(b, self.k) if h == hand else b) for h, a, b in self.contacts))

    def bake_into_base(self, count: int = 0) -> None:
        """Make all final and expected frames the new base, extended to at least `count` frames."""
        clip = self.clip()
        count = max(len(clip), len(self.base), count)
        self.change(base=held(clip, count), original=held(self.original, count), kept={}, away=False)

    def pause(self) -> None:
        """Hold the base at the last final frame until `resume`."""
        base, original = self.base, self.original
        self.change(
            left=(_from(base, self.k), _from(original, self.k)),
            base=held(base, self.k + 1),
            original=held(original, self.k + 1),
            stands=True,
            layered=False,
        )

    def resume(self) -> tuple[float, float]:
        """Let a paused base continue after the last final frame; return the seconds between which it was held."""
        assert self.left is not None, "the motion was paused"
        since = self.time(len(self.original) - 1)
        base, original = self.left
        q = self.keeping(base.rotations)
        self.bake_into_base()
        self.change(
            base=_joined(held(self.base, self.k + 1), base.with_(rotations=q)),
            original=_joined(held(self.original, self.k + 1), original),
            left=None,
            stands=False,
            layered=True,
        )
        return since, self.now

    def walk(self, walk: Clip, delay: int) -> None:
        """Append a walk that starts at the current stance to the base, `delay` frames later, as final frames.

        Joints that a task has left in a posture keep it.
        """
        count, q = self.k + 1 + delay, self.keeping(walk.rotations)
        done = held(held(self.clip(), self.k + 1), count)
        made = _joined(done, walk.with_(rotations=q))
        self.change(
            original=_joined(held(held(self.original, self.k + 1), count), walk),
            base=_joined(done, walk),
            root=made.root,
            q=made.rotations,
            stands=True,
            layered=False,
            left=None,
            away=False,
            free_from=dict.fromkeys(("left", "right"), len(made) - 1),
        )

    def ahead_clip(self) -> Clip:
        """The base from the last final frame to its end, as if it had not been paused."""
        return _from(self.base, self.k) if self.left is None else self.left[0]

    def edit(self, first: int, joints: Sequence[int], q: Array) -> None:
        """Replace rotations of some joints by (N, n, 4) in the base, from frame `first` on, final frames included."""
        new, q = np.array(self.base.rotations), continuous(q)
        # of the two equivalent quaternions take the nearer one, so that later frames keep their signs
        turned = np.sum(new[first, list(joints)] * q[0], axis=-1, keepdims=True) < 0.0
        new[first : first + len(q), list(joints)] = np.where(turned, -q, q)
        base = self.base.with_(rotations=new)
        self.change(base=base, q=base.rotations[: self.k + 1])

    def go_on(self, k: int) -> None:
        """Make frames up to k final as the base has them."""
        k = min(max(k, self.k), len(self.base) - 1)
        self.change(root=self.base.root[: k + 1], q=self.base.rotations[: k + 1])

    def clip(self, root: Array | None = None, q: Array | None = None) -> Clip:
        """The whole motion: final frames, optionally further ones that start with the last final frame, then the
        expected rest.
        """
        old_root, old_q = self.root, self.q
        count = 0
        if root is not None and q is not None:
            old_root, old_q = np.concatenate([old_root, root[1:]]), np.concatenate([old_q, q[1:]])
            count = len(root) - 1
        left = len(self.base) - 1 - self.k - count
        if left > 0 and not (self.stands and (self.away or root is not None)):
            after_root, after_q = self.ahead(count + left)
            old_root = np.concatenate([old_root, after_root[count + 1 :]])
            old_q = np.concatenate([old_q, after_q[count + 1 :]])
        return self.base.with_(root=old_root, rotations=old_q)

    def placed(self, world: World, root: Array | None = None, q: Array | None = None) -> World:
        """A world with this character's motion in it, see `clip`."""
        return world.with_character(self.who, self.clip(root, q))


def _from(clip: Clip, k: int) -> Clip:
    """Frames of a clip from number k on."""
    k = min(k, len(clip) - 1)
    return clip.with_(root=clip.root[k:], rotations=clip.rotations[k:])


def _joined(clip: Clip, rest: Clip) -> Clip:
    """A clip continued by another one, which starts with the last frame of the first."""
    # of the two equivalent quaternions take the nearer one
    turned = np.sum(clip.rotations[-1] * rest.rotations[0], axis=-1, keepdims=True) < 0.0
    q = np.where(turned, -rest.rotations, rest.rotations)
    return clip.with_(
        root=np.concatenate([clip.root, rest.root[1:]]), rotations=np.concatenate([clip.rotations, q[1:]])
    )
