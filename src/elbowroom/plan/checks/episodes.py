"""Collision episodes of a motion, and the limbs to blame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from elbowroom.character.body import Character
from elbowroom.errors import BadValue, UnknownName
from elbowroom.motion.clip import Clip
from elbowroom.world.certificate_findings import Finding, Unproven, limb_of
from elbowroom.world.exact import ExactWorld
from elbowroom.world.pairs import Pair, Part
from elbowroom.world.paths import Interval, merged
from elbowroom.world.world import World

# Collisions of one limb less than this apart form one episode, seconds: there is no time to return in between.
_TOGETHER = 0.5
# Order of repairs: what carries the rest first. Chains by the end of their name.
_ORDER = ("spine", "neck", "leg", "arm")


@dataclass(frozen=True)
class CollisionEpisode:
    """An interval in which a limb of a character collides: `limb` is a chain, or a part that belongs to none.

    `joints` are those of the parts in collision. One that only `grazes` has pairs too close to be proven free, and no
    collision.
    """

    who: str
    limb: str
    during: Interval
    pairs: tuple[Pair, ...]
    joints: frozenset[int] = frozenset()
    grazes: bool = False

    @property
    def rank(self) -> int:
        """Position in the order of repairs."""
        return next((k for k, end in enumerate(_ORDER) if self.limb.endswith(end)), len(_ORDER))

    @property
    def text(self) -> str:
        """Description for a sentence."""
        a, b = self.pairs[0]
        does = "comes too close to be proven free to" if self.grazes else "collides with"
        return f"{a} {does} {b} at {self.during[0]:.2f}–{self.during[1]:.2f} s"


def collision_episodes(exact: ExactWorld, who: str, found: Iterable[Finding]) -> list[CollisionEpisode]:
    """Collisions of one character as episodes of limbs, what carries the rest first."""
    by_limb: dict[str, list[Finding]] = {}
    parts: dict[str, Part] = {}
    for part in exact.parts:
        parts.setdefault(part.name, part)
    for one in found:
        limb = _blamed(exact, parts, who, one)
        if limb is not None:
            by_limb.setdefault(limb, []).append(one)
    out = []
    for limb, ones in by_limb.items():
        for begin, end in merged([c.during for c in ones], _TOGETHER):
            here = sorted((c for c in ones if begin <= c.during[0] <= end), key=lambda c: isinstance(c, Unproven))
            pairs = tuple(dict.fromkeys(c.pair for c in here))
            own = [parts[n] for pair in pairs for n in pair if n in parts and parts[n].owner == who]
            joints = frozenset(p.joint for p in own if limb_of(exact, p) == limb)
            grazes = all(isinstance(c, Unproven) for c in here)
            out.append(CollisionEpisode(who, limb, (begin, end), pairs, joints, grazes))
    return sorted(out, key=lambda t: (t.rank, t.during, t.limb))


def _blamed(exact: ExactWorld, parts: dict[str, Part], who: str, one: Finding) -> str | None:
    """The limb of a character that must give way, None for collisions of others.

    It is the arm that holds the colliding object, otherwise that of its own part. Of two own parts, arms give way
    before legs, legs before the trunk.
    """
    for hold in exact.world.holds:
        overlap = hold.during[0] <= one.during[1] and one.during[0] <= hold.during[1]
        if hold.by == who and hold.object in one.pair and overlap:
            body = exact.world.body(who)
            joint, _ = body.hand(hold.hand)
            return next((n for n, c in body.chains.items() if joint in c.joints), hold.hand)
    own = [parts[name] for name in one.pair if name in parts and parts[name].owner == who]
    limbs = [limb_of(exact, part) for part in own if part.kind == "body"]
    return max(limbs, key=lambda n: next((k for k, end in enumerate(_ORDER) if n.endswith(end)), -1), default=None)


def clip_of(world: World, who: str) -> Clip:
    """The clip of a character."""
    motion = world.motion(who)
    if not isinstance(motion, Clip):
        raise BadValue(f"the motion of '{who}' is not a clip; only clips can be repaired.")
    return motion


def clips_of(world: World) -> dict[str, Clip]:
    """Clips of all characters that have one."""
    return {name: motion for name, motion in world.characters.items() if isinstance(motion, Clip)}


def people_to_repair(world: World, who: str | Sequence[str] | None) -> list[str]:
    """Names of the characters that are to be repaired: by default all with a clip; raises `UnknownName`."""
    clips = list(clips_of(world))
    wanted = clips if who is None else [who] if isinstance(who, str) else list(who)
    for name in wanted:
        if name not in world.characters:
            raise UnknownName("character", name, world.characters)
        clip_of(world, name)
    return wanted


@dataclass(frozen=True)
class Linkage:
    """A named linkage: joints that are planned, and upper arms whose world orientation is kept meanwhile."""

    name: str
    joints: tuple[int, ...]
    hang: tuple[int, ...] = ()


def linkages(body: Character, limb: str, colliding: Iterable[int] = ()) -> list[Linkage]:
    """Linkages that can resolve a limb's collision, the smallest first: arm; with shoulder girdle; with spine.

    Those that do not move all joints in `colliding` are left out, except for the last.
    """
    if limb not in body.chains:
        return []
    chain = body.chains[limb]
    spine = body.chains["spine"].joints if "spine" in body.chains else ()

    def known(joints: Iterable[int]) -> tuple[int, ...]:
        ranged = [j for j in joints if 0 < j < len(body.limits) and body.limits[j] is not None]
        return tuple(dict.fromkeys(ranged))

    made = [] if chain.kind == "spine" else [Linkage(limb, known(chain.joints))]
    if chain.kind == "arm" and known(chain.lead):
        made.append(Linkage(f"{limb} and shoulder", known((*chain.lead, *chain.joints))))
    if chain.kind in ("arm", "neck", "spine") and known(spine):
        neck = body.chains["neck"].joints if chain.kind == "spine" and "neck" in body.chains else ()
        joints = known((*spine, *chain.lead, *chain.joints, *neck))
        arms = [c.joints[0] for c in body.chains.values() if c.kind == "arm" and c is not chain]
        name = "spine and neck" if neck else f"{limb} and spine" if chain.kind != "spine" else "spine"
        made += [Linkage(name, joints, known(arms)), Linkage(name, joints)]
    made = [one for one in made if one.joints]

    def moves_all(joints: tuple[int, ...]) -> bool:
        return set(colliding) <= {j for top in joints for j in body.subtree(top)}

    return [one for one in made if moves_all(one.joints)] or made[-1:]
