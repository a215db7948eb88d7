"""Edits: changes of a character's motion by planning, each a layer with its reason, strength and cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip, Motion
from elbowroom.motion.layers import Layer, composed
from elbowroom.world.contacts import Contact
from elbowroom.world.paths import Interval

EditTier = Literal["ik", "avoid", "plan", "whole-body"]
Motions = Mapping[str, Motion]

# Frames between two layers that count as consecutive.
_NEXT_FRAMES = 1.5

# Part of a motion by its source: planned, taken from recordings, or between the two.
PartSource = Literal["planned", "blended", "captured"]
_PLANNED: PartSource = "planned"

_NO_LAYER = Layer((), 1.0, 0.0, np.zeros((0, 0, 4)))


@dataclass(frozen=True)
class CaptureBlend:
    """Recordings in a whole-body plan: posture similarity and torque variation as searched and with them, the sources.

    `parts` are components of the body with a source and its interval in seconds.
    """

    similarity: tuple[float, float]
    torque: tuple[float, float]
    parts: tuple[tuple[str, PartSource, Interval], ...]

    @property
    def used(self) -> bool:
        """Return whether any part comes from recordings."""
        return any(source != "planned" for _, source, _ in self.parts)

    def dropped(self) -> CaptureBlend:
        """The same where the recordings are left out."""
        names = dict.fromkeys(name for name, *_ in self.parts)
        spans = [[span for own, _, span in self.parts if own == name] for name in names]
        whole = [(name, _PLANNED, (own[0][0], own[-1][1])) for name, own in zip(names, spans, strict=True)]
        return CaptureBlend((self.similarity[0],) * 2, (self.torque[0],) * 2, tuple(whole))

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "posture_similarity": [round(x, 4) for x in self.similarity],
            "torque_variation": [round(x, 4) for x in self.torque],
            "parts": [{"component": name, "source": kind, "during": list(span)} for name, kind, span in self.parts],
        }


@dataclass(frozen=True, eq=False)
class Edit:
    """One change of a motion: character, limb, reason, interval, tier, and search statistics.

    `layer` has the joints and their frames; it lasts longer than `during`, the seconds in which the limb moves, if a
    hand stays at its target afterwards. Its weight is the `strength` of the edit; `muted` ones have no effect. `trees`
    are lines (E, 2, 3) of the limb's end in search trees, from the start and from the goal, if requested by
    `search.birrt.keeping_trees`. `replanned` are the joints whose recorded contacts no longer apply; `contacts` are
    allowed because of it. `blend` says what recordings have in it, None where none were given; `zmp_m` is how far
    inside the support the zero moment point of a whole-body motion stays, metres.
    """

    who: str
    limb: str
    reason: str
    during: Interval
    tier: EditTier
    first_solution_s: float = 0.0
    smooth_s: float = 0.0
    checks: int = 0
    nodes: int = 0
    trees: tuple[Array, ...] = field(default=(), repr=False)
    layer: Layer = field(default=_NO_LAYER, repr=False)
    muted: bool = False
    replanned: tuple[int, ...] = field(default=(), repr=False)
    contacts: tuple[Contact, ...] = field(default=(), repr=False)
    blend: CaptureBlend | None = field(default=None, repr=False)
    zmp_m: float | None = None

    @property
    def strength(self) -> float:
        """Share of the edit that counts, 0 to 1, unless it is muted."""
        return self.layer.weight

    @property
    def share(self) -> float:
        """Share of the edit that counts, 0 where it is muted."""
        return 0.0 if self.muted else self.strength

    def with_strength(self, strength: float) -> Edit:
        """The edit with another strength, 0 to 1."""
        return replace(self, layer=replace(self.layer, weight=strength, ends=None))

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        blend = {} if self.blend is None else {"blend": self.blend.facts()}
        return {
            "who": [self.who],
            "limb": self.limb,
            "what": self.reason,
            "during": list(self.during),
            "tier": self.tier,
            "first_solution_s": self.first_solution_s,
            "smooth_s": self.smooth_s,
            "checks": self.checks,
            "nodes": self.nodes,
            "joints": list(self.layer.joints),
            "root": self.layer.root is not None,
            "layer": list(self.layer.during),
            "strength": self.strength,
            "muted": self.muted,
        } | (blend if self.zmp_m is None else {**blend, "zmp_inside_m": round(self.zmp_m, 4)})


def motions(base: Motions, edits: Sequence[Edit]) -> dict[str, Motion]:
    """Motions by character of a base with its edits at their strengths."""
    out = dict(base)
    for who in dict.fromkeys(edit.who for edit in edits):
        below = base[who]
        assert isinstance(below, Clip)
        out[who] = composed(below, _weighted([edit for edit in edits if edit.who == who]))
    return out


def _weighted(edits: Sequence[Edit]) -> list[Layer]:
    """Layers of one person's edits; consecutive ones of different strength fade into each other."""
    out = []
    for edit in edits:
        ends = (_end(edit, edits, 0), _end(edit, edits, 1))
        layer = replace(edit.layer, weight=edit.share)
        out.append(layer if ends == (edit.share, edit.share) else replace(layer, ends=ends))
    return out


def _end(edit: Edit, edits: Sequence[Edit], end: int) -> float:
    """Share of an edit at its first (0) or last (1) frame: half way to that of the adjacent edit."""
    at, frame = edit.layer.during[end], _NEXT_FRAMES / edit.layer.fps
    joints = set(edit.layer.joints)
    next_to = [
        other.share
        for other in edits
        if other is not edit and joints & set(other.layer.joints) and abs(other.layer.during[1 - end] - at) < frame
    ]
    return 0.5 * (edit.share + next_to[0]) if next_to else edit.share
