"""A repair in progress: its world, edits, proofs and failures."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from elbowroom.plan.checks.episodes import CollisionEpisode
from elbowroom.plan.repair.ladder import RepairResult
from elbowroom.plan.repair.options import RepairOptions
from elbowroom.plan.state.edit import changed_by, with_edit_contacts
from elbowroom.stopping import OutOfTime, overtime, report
from elbowroom.world.allowances import Changed
from elbowroom.world.certificate import Certificate, certify
from elbowroom.world.edit import Edit
from elbowroom.world.world import World

# Share of a budget, beyond it, for a last proof of what was repaired.
_OVERTIME = 0.1


@dataclass
class Work:
    """A repair in progress: the current world, its edits, and episodes that failed."""

    world: World
    options: RepairOptions
    changed: Sequence[Changed] = ()
    edits: list[Edit] = field(default_factory=list)
    failed: dict[tuple[str, str, int], str] = field(default_factory=dict)
    repaired: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    before: Certificate | None = None
    proof: Certificate | None = None
    whole: bool = True  # whether the proof lists allowed contacts, too

    def certified(self, contacts: Literal["always", "if free"] = "always") -> Certificate:
        """Prove the current world; the proof of the imported one is kept as `before`."""
        start = time.perf_counter()
        self.tell("looking for collisions" if self.before is None else "proving the repair")
        with_contacts = with_edit_contacts(self.world, self.edits)
        changed = [*self.changed, *changed_by(self.edits)]
        self.proof = certify(with_contacts, own_contacts=not self.options.fix_self, changed=changed, contacts=contacts)
        self.whole = contacts == "always" or self.proof.free
        self.before = self.before or self.proof
        self.options.clocks.add("certify", start)
        return self.proof

    def tell(self, doing: str) -> None:
        """Report progress."""
        if self.options.progress is not None:
            self.options.progress(doing)
        else:
            report(doing)

    def certified_late(self) -> Certificate | None:
        """Prove the current world after the budget is spent; None where that would take too long."""
        if self.before is None:  # not even one proof was done within the whole budget
            return None
        try:
            with overtime(_OVERTIME):
                return self.proof if self.proof is not None and self.whole else self.certified()
        except OutOfTime:
            return None


def took(work: Work, done: RepairResult | None) -> bool:
    """Continue from a repair, if there is one; return whether there is."""
    if done is None:
        return False
    work.world, work.proof = done.world, None
    work.edits += done.edits
    return True


def key_of(episode: CollisionEpisode) -> tuple[str, str, int]:
    """Key of an episode that changes around it do not affect."""
    return episode.who, episode.limb, round(0.5 * sum(episode.during) * 4.0)


def so_far(work: Work, after: Certificate | None) -> str:
    """Describe the state of a repair that the clock has ended."""
    if work.before is None:
        return "time ran out before the collisions were known"
    if after is None:
        return f"{len(work.before.collisions)} collisions before, {len(work.edits)} repairs made, none proven"
    return counts(work.before, after)


def counts(before: Certificate, after: Certificate) -> str:
    close = f", and {len(after.unproven)} too close to be proven" if after.unproven else ""
    return f"{len(before.collisions)} collisions before, {len(after.collisions)} now{close}"
