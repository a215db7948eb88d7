"""A take: everything that the tasks so far have made, as one immutable value.

Steps replace the director's current take by the next one. An attempt that fails leaves nothing behind, because the
director goes on with the take from before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip, Motion
from elbowroom.motion.layers import held
from elbowroom.plan.state.actor import Track
from elbowroom.plan.state.edit import laid_in_turn, stacked
from elbowroom.world.edit import Edit, Motions
from elbowroom.world.world import World


@dataclass(frozen=True, eq=False)
class Grip:
    """A grip on an object: open finger rotations (n, 4), retreat direction in the hand's frame (3,), object placement
    (4, 4).

    `grasp` is the hand and the name of the grasp.
    """

    open: Array
    out: Array
    T_world_taken: Array
    grasp: tuple[str, str] = ("", "")


@dataclass(frozen=True, eq=False)
class Take:
    """World, tracks of characters, planned edits in the order in which they were made, and grips by object.

    The world has holds, contacts and the motions so far. `folded` are people who fold up to the floor, whose bellies
    give way to thighs. `below` has the motions and edits of an earlier take that this one was begun on top of.
    """

    world: World
    tracks: Mapping[str, Track] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    grips: Mapping[str, Grip] = field(default_factory=dict)
    folded: frozenset[str] = frozenset()
    below: tuple[Motions, tuple[Edit, ...]] = field(default=({}, ()))

    def with_track(self, who: str, track: Track) -> Take:
        """The take with another track of a character."""
        return replace(self, tracks={**self.tracks, who: track})

    def with_edits(self, *edits: Edit) -> Take:
        """The take with further edits, whose frames are in the tracks."""
        return replace(self, edits=(*self.edits, *edits))

    def with_edit_at(self, number: int, edit: Edit) -> Take:
        """The take with another edit in place of one, given by its index."""
        return replace(self, edits=(*self.edits[:number], edit, *self.edits[number + 1 :]))

    def folding(self, who: str) -> Take:
        """The take in which a character folds up."""
        return replace(self, folded=self.folded | {who})

    def with_grip(self, thing: str, grip: Grip | None) -> Take:
        """The take with a grip on an object, or with none."""
        grips = {name: one for name, one in self.grips.items() if name != thing}
        return replace(self, grips=grips if grip is None else {**grips, thing: grip})

    def layers(self, world: World) -> tuple[Motions, tuple[Edit, ...]]:
        """Motions below all edits, by character, and the edits that turn them into the motions of a world."""
        base: dict[str, Motion] = {}
        own: dict[str, Iterator[Edit]] = {}
        for who in dict.fromkeys(edit.who for edit in self.edits):
            clip = world.motion(who)
            assert isinstance(clip, Clip)
            base[who] = below = held(self.tracks[who].original, len(clip))
            own[who] = iter(laid_in_turn([edit for edit in self.edits if edit.who == who], below, clip))
        return stacked(*self.below, base, [next(own[edit.who]) for edit in self.edits])
