"""Repair: a clip is re-planned where it collides, limb by limb (S4), with a ladder of strategies (X8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from elbowroom.motion.layers import held
from elbowroom.plan.checks.allowed import Pin, freeze_grips
from elbowroom.plan.checks.episodes import (
    CollisionEpisode,
    clip_of,
    clips_of,
    collision_episodes,
    people_to_repair,
)
from elbowroom.plan.repair.cost import balance
from elbowroom.plan.repair.ladder import ALONE_S, BODY_S, RepairResult, repaired
from elbowroom.plan.repair.options import Clocks, RepairOptions
from elbowroom.plan.repair.pieces import Piece, clips_in, fits, is_long, piece_of, pieces, windows
from elbowroom.plan.repair.problem import by_limb, near_in_time
from elbowroom.plan.repair.whole_clip import raised, shifted_clips
from elbowroom.plan.repair.work import Work, counts, key_of, so_far, took
from elbowroom.plan.state.edit import laid
from elbowroom.plan.state.result import Plan, Status
from elbowroom.search.birrt import Budget
from elbowroom.spaces.styles import CLOSE, StyleLike, style_of
from elbowroom.stopping import OutOfTime, deadline
from elbowroom.world.allowances import Changed, recorded_people
from elbowroom.world.certificate import Certificate
from elbowroom.world.certificate_findings import Finding
from elbowroom.world.edit import Edit, motions
from elbowroom.world.exact import ExactWorld
from elbowroom.world.world import World

# Rounds of repairs of what earlier repairs caused.
_ROUNDS = 6
# Passes over the pieces of a long take.
_PASSES = 2
# Times that one episode is repaired: what collides all the same is caused by something else.
_TIMES_REPAIRED = 3
# Times that characters are raised out of the floor: the second only for what was at the edge of the allowed depth.
_RAISES = 3
# Checks that one search may make.
USUAL = Budget(checks=60_000)
# Largest displacement of a body, metres.
ASIDE = 0.6
# Distance that a clip is moved at most to find out whether that would help, metres.
_ADVISED_SHIFT_M = 1.0


def repair(
    world: World,
    who: str | Sequence[str] | None = None,
    *,
    seed: int = 0,
    style: StyleLike = None,
    search_budget: Budget = USUAL,
    searches: bool = True,
    fix_self: bool = False,
    max_aside: float = ASIDE,
    max_shift: float = 0.0,
    max_delay: float = 0.0,
    apart: Sequence[World] = (),
    keep: Sequence[Pin] = (),
    progress: Callable[[str], None] | None = None,
    budget: float | None = None,
    advise: bool = False,
) -> Plan:
    """Resolve the collisions of clips; `who` is by default everybody with a clip, one by one.

    The limbs to blame are re-planned for as long as necessary and stay close to the clip; all other frames stay as they
    are. `style`, a `Style` or its name, is 'close' by default: as near to the clip as possible; what cannot keep to it
    is repaired without. With `fix_self`, contacts of a recorded clip with itself and the floor count as collisions.

    Where limbs fail, a body is displaced for a while by at most `max_aside` metres, over its feet or in steps; then a
    whole clip may be moved on the floor by at most `max_shift` metres, or begin at most `max_delay` seconds later.

    The same seed gives the same motion. If collisions remain, the status is 'partial', the world has the best repair,
    and `why` names what is left and the reason. `apart` are other repairs of the same world that this one should differ
    from. Limbs in `keep` stay in place at their times, and the body with them. `search_budget` limits one search,
    counted in checks; without `searches` limbs use offsets and bodies are lowered or turned, which is quick. After
    `budget` seconds of wall-clock time, proofs included, the status is 'budget-spent' and the world has what was
    repaired until then; a motion found within a budget is the same as without one. With `advise`, a shift of the clip
    is tried where collisions remain and none was allowed, and becomes the plan's advice if it leaves none.
    """
    people = people_to_repair(world, who)
    others = {name: tuple(clips_of(other)[name] for other in apart) for name in people} if apart else {}
    options = RepairOptions(
        clips_of(world),
        seed,
        style_of(style, CLOSE),
        search_budget,
        fix_self,
        max_aside,
        others,
        progress,
        pins=tuple(keep),
        searches=searches,
    )
    for pin in keep:
        pin.joint(clip_of(world, pin.who).character)
    with deadline(budget):
        plan = _in_pieces(world, people, options)
        for name in people if max_shift > 0.0 or max_delay > 0.0 else ():
            if plan.status == "partial":
                plan = _moved(plan, world, name, people, options, max_shift, max_delay)
        if advise and plan.status == "partial" and max_shift == 0.0 and len(people) == 1 and not keep:
            moved = _moved(plan, world, people[0], people, options, _ADVISED_SHIFT_M, 0.0)
            if moved.found:  # its first edit is the shift
                how = f"allow it with --max-shift {_ADVISED_SHIFT_M:g}"
                plan = plan.with_(verified=f"the clip {moved.edits[0].reason} works (verified): {how}")
    return plan


def _moved(
    plan: Plan,
    world: World,
    name: str,
    people: Sequence[str],
    options: RepairOptions,
    max_shift: float,
    max_delay: float,
) -> Plan:
    """The best of a repair and of repairs of a character's clip moved on the floor or delayed."""
    try:
        for shifted in shifted_clips(world, name, max_shift, max_delay):
            other = _by_limbs(shifted.world, people, replace(options, sources=clips_of(shifted.world), clocks=Clocks()))
            late = other.status == "budget-spent"
            if _better(other, plan):
                whole = Edit(name, "whole body", shifted.text, shifted.world.motion(name).span, "avoid")
                spent = {k: round(plan.seconds.get(k, 0.0) + s, 4) for k, s in other.seconds.items()}
                clip, source = clip_of(shifted.world, name), options.sources[name]
                whole, below = laid(whole, source, clip), {**world.characters, name: held(source, len(clip))}
                moved = Plan("found", shifted.world, (whole,), base=below)
                plan = moved.then(other).with_(seconds=spent, collisions=plan.collisions)
            elif late:
                plan = plan.with_(status="budget-spent", why=f"{plan.why}; then {other.why}")
            if plan.found or late:
                break
    except OutOfTime as spent_s:
        plan = plan.with_(status="budget-spent", why=f"{plan.why}; then {spent_s}")
    return plan


def _better(a: Plan, b: Plan) -> bool:
    """Return whether one repair leaves less than another."""
    if a.found or a.certificate is None or b.certificate is None:
        return a.found
    return len(a.certificate.collisions) < len(b.certificate.collisions)


def repair_planned(
    world: World,
    people: Sequence[str],
    proof: Certificate,
    *,
    seed: int,
    changed: Sequence[Changed] = (),
    pins: Sequence[Pin] = (),
    planted: Iterable[str] = (),
) -> Plan:
    """Resolve the collisions of a planned motion listed in its `proof`; hands stay where they must be.

    `changed` names what is not as recorded, `pins` are hands at their targets, legs of `planted` characters stay as
    they are. Returns the same as `repair`.
    """
    options = RepairOptions(
        clips_of(world), seed, CLOSE, USUAL, False, ASIDE, pins=tuple(pins), planted=frozenset(planted), partial=False
    )
    return _by_limbs(world, people, options, changed, proof)


def repair_near(world: World, who: str, hits: Sequence[Finding], *, seed: int = 0, searches: bool = True) -> Plan:
    """Resolve the given collisions of a character, which are all since the first of them, in the time around them if
    possible, so that a long walk costs no more than a short one.

    Collisions before them stay, and do not count as left. The certificate is that of the last time window.
    """
    since, plan = min(hit.during[0] for hit in hits), None
    options = RepairOptions(
        clips_of(world), seed, CLOSE, USUAL, False, ASIDE, searches=searches, since=since, partial=False
    )
    found = windows(world, hits)
    for during in found:
        now = world if plan is None else plan.world
        piece = piece_of(now, during)
        done = _in_pieces(piece, [who], replace(options, sources=clips_of(piece), clocks=Clocks()))
        if not fits(now, piece, done.edits) or (len(found) > 1 and not done.found):
            plan = None
            break
        whole = now.with_(characters=motions(now.characters, done.edits))
        done = done.with_(world=whole, base=now.characters)
        plan = done if plan is None else plan.then(done)
    return _in_pieces(world, [who], options) if plan is None else plan


def _by_limbs(
    world: World,
    people: Sequence[str],
    options: RepairOptions,
    changed: Sequence[Changed] = (),
    proof: Certificate | None = None,
) -> Plan:
    """Repair within a clip, by limbs and detours. `proof` is that of the world, if there is one."""
    work = Work(freeze_grips(world), options, changed, before=proof, proof=proof)
    try:
        after: Certificate | None = _in_rounds(work, people)
        assert after is not None
        found = after.free or not options.pending(after)
        status: Status = "found" if found else "partial"
        why = "" if found else _left(work, people, after)
    except OutOfTime as spent:
        after = work.certified_late()
        status, why = "budget-spent", f"{spent}; {so_far(work, after)}"
    return _plan(work, world, status, why, after)


def _in_pieces(world: World, people: Sequence[str], options: RepairOptions) -> Plan:
    """Repair a long take in pieces, with a proof of the whole before and after each pass; shorter takes as a whole."""
    work = Work(freeze_grips(world), options)
    try:
        after: Certificate | None = _above_floor(work, people, work.certified("if free")) if is_long(world) else None
    except OutOfTime:
        after = None  # reported by the repair of the whole, which has no time left either
    if after is None or not options.pending(after):
        return _by_limbs(world, people, options, proof=work.before)
    tried: list[Piece] = []
    reasons: list[str] = []
    late = ""
    for _ in range(_PASSES):
        left = [hit for hit in options.pending(after) if not any(p.has(hit) for p in tried)]
        if not left:
            break
        now = pieces(work.world, left)
        tried += now
        late = _pass_over(work, people, now, reasons)
        work.proof = None
        try:
            after = work.certified_late() if late else work.certified()
        except OutOfTime as spent:
            after, late = None, str(spent)
        if late or after is None:
            break
    free = after is not None and (after.free or not options.pending(after))
    status: Status = "budget-spent" if late else "found" if free else "partial"
    why = "" if status == "found" else "; ".join([*([late] if late else reasons[:1]), so_far(work, after)])
    return _plan(work, world, status, why, after)


def _pass_over(work: Work, people: Sequence[str], found: Sequence[Piece], reasons: list[str]) -> str:
    """Repair pieces one after another, and append reasons of failures; returns why the budget ended it, '' if not."""
    for number, part in enumerate(found, 1):
        piece = piece_of(work.world, part.during)
        done = _by_limbs(piece, people, _piece_options(work.options, part, f"piece {number} of {len(found)}"))
        where = f"{part.since:.1f}–{part.until:.1f} s"
        if not fits(work.world, piece, done.edits):
            reasons.append(f"{where}: no repair returns to the motion in time")
        elif done.edits:
            work.edits += done.edits
            work.world = work.world.with_(characters=motions(work.world.characters, done.edits))
        if done.status == "budget-spent":
            return done.why
        reasons += [f"{where}: {done.why}"] if done.why else []
    return ""


def _plan(work: Work, world: World, status: Status, why: str, after: Certificate | None) -> Plan:
    """Result of a repair."""
    notes = balance(world, work.world, [e.who for e in work.edits]) if status in ("found", "partial") else ()
    seconds = {stage: round(s, 4) for stage, s in work.options.clocks.seconds.items()}
    result = replace(work.world, holds=world.holds, notes=(*world.notes, *notes))
    collisions = () if work.before is None else work.before.collisions
    return Plan(status, result, tuple(work.edits), why, after, seconds, collisions, world.characters)


def _piece_options(options: RepairOptions, piece: Piece, name: str) -> RepairOptions:
    """Options for a piece of a take, named in progress messages."""
    say = options.progress
    tell = None if say is None else (lambda doing: say(f"{name}, {doing}"))
    during = piece.during
    cut = {who: tuple(clips_in({who: clip}, during)[who] for clip in clips) for who, clips in options.apart.items()}
    since, until = max(options.since, piece.since), min(options.until, piece.until)
    cut_clips = clips_in(options.sources, during)
    return replace(options, sources=cut_clips, apart=cut, progress=tell, since=since, until=until)


def _in_rounds(work: Work, people: Sequence[str]) -> Certificate:
    """Repair characters in rounds until nothing changes; return the last proof."""
    after = _above_floor(work, people, work.proof or work.certified("if free"))
    # repair all characters between two of the slow proofs: time then grows with their number, not its square
    for _ in range(_ROUNDS + len(people) - 1):
        exact, moved = ExactWorld(work.world), set[str]()
        for name in people:
            found = [t for t in _pending_collisions(work, exact, name, after) if not moved & _owners(exact, t)]
            if found and _repair_all(work, found):
                moved.add(name)
        if not moved:
            break
        after = work.certified()
        if not work.options.partial and _beyond_repair(work, people, after):
            break
    # a quick repair that leaves something is of no use, whatever touches what
    return after if work.whole or not work.options.searches else work.certified()


def _beyond_repair(work: Work, people: Sequence[str], proof: Certificate) -> bool:
    """Return whether a proof has collisions whose repair has failed."""
    exact, left = ExactWorld(work.world), work.options.pending(proof)
    return any(key_of(episode) in work.failed for who in people for episode in collision_episodes(exact, who, left))


def _above_floor(work: Work, people: Sequence[str], proof: Certificate) -> Certificate:
    """Proof of the world after recorded characters were raised out of the floor where necessary."""
    for _ in range(_RAISES):
        if proof.free or not _raised(work, people, proof):
            break
        proof = work.certified("if free")
    return proof


def _raised(work: Work, people: Sequence[str], proof: Certificate) -> bool:
    """Raise recorded characters whose legs are deeper in the floor than allowed; return whether there are any."""
    if work.options.fix_self or work.options.pins:
        return False
    found = [raised(work.world, name, proof.hits) for name in people if name in recorded_people(work.world)]
    for rise in filter(None, found):
        who, clip = rise.changed.who, clip_of(rise.world, rise.changed.who)
        edit = laid(Edit(who, rise.name, rise.text, rise.changed.during, "avoid"), clip_of(work.world, who), clip)
        took(work, RepairResult(work.world.with_character(who, clip), (edit,)))
    return any(found)


def _pending_collisions(work: Work, exact: ExactWorld, who: str, certificate: Certificate) -> list[CollisionEpisode]:
    """Episodes of a character that have not failed yet."""
    found = collision_episodes(exact, who, work.options.pending(certificate))
    return [t for t in found if key_of(t) not in work.failed]


def _owners(exact: ExactWorld, episode: CollisionEpisode) -> set[str]:
    """Names of the characters in an episode, holders of objects included."""
    named = {name for pair in episode.pairs for name in pair}
    owners = {part.owner for part in exact.parts if part.name in named}
    return owners | {hold.by for hold in exact.world.holds if hold.object in owners}


def _repair_all(work: Work, found: Sequence[CollisionEpisode]) -> bool:
    """Repair groups of episodes one after another, limb by limb where a group fails; return whether any succeeded."""
    any_done = False
    for group in near_in_time(found):
        if _repair_group(work, group):
            any_done = True
        else:
            done = [_repair_group(work, part, ALONE_S) for part in by_limb(group)]
            any_done = any_done or any(done)
            if not work.options.searches and not all(
                done
            ):  # one collision that is left is enough to look for another motion
                return False
    return any_done


def _repair_group(work: Work, group: Sequence[CollisionEpisode], pads_s: Sequence[float] = BODY_S) -> bool:
    """Repair episodes together and note what became of them; return whether they are cleared."""
    keys = [key_of(episode) for episode in group]
    if any(key in work.failed for key in keys):
        return False
    work.repaired.update(keys)
    done: RepairResult | None = None
    reason = "it collides again after every repair"
    if max(work.repaired[key] for key in keys) <= _TIMES_REPAIRED:
        work.tell(f"repairing: {group[0].text}")
        done, reason = repaired(work.world, group, work.options, pads_s)
    if took(work, done):
        return True
    if not by_limb(group):
        work.failed.update(dict.fromkeys(keys, reason))
    return False


def _left(work: Work, people: Sequence[str], after: Certificate) -> str:
    """One sentence on what is left."""
    exact = ExactWorld(work.world)
    left = [t for name in people for t in collision_episodes(exact, name, work.options.pending(after))]
    if not left:
        return "a character outside this repair collides"
    first = left[0]
    reason = work.failed.get(key_of(first), "all rounds of repair are used up")
    more = f", and {len(left) - 1} more" if len(left) > 1 else ""
    assert work.before is not None
    return f"{first.text} ({reason}){more}; {counts(work.before, after)}"
