"""Edits of a motion in NPZ and GLB: the motion below them, and each as a layer of its own.

The motion that a file plays includes the edits. The layers let programs remove or weaken an edit; `elbowroom verify`
checks that base and edits reproduce the motion.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from elbowroom.errors import BadFile, BadValue
from elbowroom.files.npz_arrays import NpzArrays
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import without_lead
from elbowroom.motion.layers import Layer, composed
from elbowroom.world.edit import Edit, EditTier, Motions, motions
from elbowroom.world.played import PlayedWorld

# Frames: a time that is this near to a frame's is the frame's.
_SAME_FRAMES = 1e-6
# Edits of a file that are read at most.
_MOST = 10_000


@dataclass(frozen=True, eq=False)
class Edited:
    """Edits of a file, and the base motions of edited characters, at the frames of the file."""

    base: Mapping[str, Clip] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()

    def off(self, world: PlayedWorld) -> float:
        """Largest difference between base with edits and the motion of a file, in metres and quaternions."""
        worst = 0.0
        for who, made in motions(self.base, self.edits).items():
            (root, q), (own_root, own) = (motion.sample(world.times) for motion in (world.motion(who), made))
            turned = np.minimum(np.abs(q - own).max(axis=2), np.abs(q + own).max(axis=2))
            worst = max(worst, float(np.abs(root - own_root).max()), float(turned.max()))
        return worst


def edited(world: PlayedWorld, base: Motions, edits: Sequence[Edit]) -> Edited:
    """Edits on the frames of a file that holds a world."""
    out: list[Edit] = []
    below: dict[str, Clip] = {}
    over: dict[str, list[Layer]] = {}
    for edit in edits:
        clip = base[edit.who]
        assert isinstance(clip, Clip)
        if edit.who not in below:
            start = float(world.times[0])
            root, q = without_lead(clip).sample(world.times)
            below[edit.who], over[edit.who] = clip.with_(fps=world.fps, root=root, rotations=q, start=start), []
        over[edit.who].append(replace(edit.layer, weight=1.0, ends=None))
        whole = composed(clip, over[edit.who])
        # frames of a file that a layer over a clip has a part in: what lies between its frames and others, too
        begin, end = ((t - whole.start) * whole.fps for t in edit.layer.during)
        at = (world.times - whole.start) * whole.fps
        first, last = begin < 1.0 - _SAME_FRAMES, end > len(whole) - 2 + _SAME_FRAMES  # ends are held
        inside = (first | (at > begin - 1.0 + _SAME_FRAMES)) & (last | (at < end + 1.0 - _SAME_FRAMES))
        rows = np.flatnonzero(inside & (len(edit.layer) > 0))
        root, q = whole.sample(world.times[rows])
        layer = replace(
            edit.layer,
            fps=world.fps,
            start=float(world.times[rows[0]]) if len(rows) else float(world.times[0]),
            rotations=q[:, list(edit.layer.joints)],
            root=None if edit.layer.root is None else root,
        )
        out.append(replace(edit, layer=layer))
    return Edited(below, tuple(out))


def npz_arrays(edited: Edited, plain: Callable[[str], str]) -> dict[str, NDArray]:
    """Arrays of an NPZ file by key; `plain` gives the names that are in it."""
    out: dict[str, NDArray] = {}
    for who, clip in edited.base.items():
        out |= {f"base/{plain(who)}/rotations": clip.rotations, f"base/{plain(who)}/root": clip.root}
    for n, edit in enumerate(edited.edits):
        clip, layer = edited.base[edit.who], edit.layer
        out[f"edit/{n}/facts"] = np.array(json.dumps(file_facts(edit) | {"who": [plain(edit.who)]}))
        out[f"edit/{n}/joints"] = np.array(layer.joints, dtype=np.int32)
        out[f"edit/{n}/first"] = np.array(layer.first_frame(clip))
        out[f"edit/{n}/rotations"] = layer.rotations
        if layer.root is not None:
            out[f"edit/{n}/root"] = layer.root
    return out


def file_facts(edit: Edit) -> dict[str, Any]:
    """Stored facts of an edit: all but its duration of search, so that the same seed gives the same file."""
    return {key: value for key, value in edit.facts().items() if key not in ("first_solution_s", "smooth_s")}


def read_npz_edits(file: NpzArrays, characters: Motions) -> Edited:
    """Edits in an NPZ file whose motions are read already."""
    base: dict[str, Clip] = {}
    for who in file.names("base"):
        clip = characters.get(who)
        if not isinstance(clip, Clip):
            raise BadFile(file.path, "belongs to no character of the file", where=f"base '{who}'")
        q = file.get(f"base/{who}/rotations", 3, clip.rotations.shape)
        base[who] = clip.with_(root=file.get(f"base/{who}/root", 2, clip.root.shape), rotations=q)
    out = []
    for n in file.names("edit"):
        joints = tuple(file.get(f"edit/{n}/joints", 1, kind="iu").tolist())
        q = file.get(f"edit/{n}/rotations", 3)
        root = file.get(f"edit/{n}/root", 2) if f"edit/{n}/root" in file else None
        try:
            facts = json.loads(str(file.get(f"edit/{n}/facts", 0, kind="U")))
        except (ValueError, RecursionError):
            raise BadFile(file.path, "is not JSON", where=f"array 'edit/{n}/facts'") from None
        clip = base.get(_who(facts))
        first = int(file.get(f"edit/{n}/first", 0, kind="iu"))
        start = 0.0 if clip is None else clip.start + first / clip.fps
        try:
            edit = None if clip is None else edit_of(facts, Layer(joints, clip.fps, start, q, root))
            if edit is None or clip is None:
                raise BadValue("it lacks its character, interval or reason")
            edit.layer.first_frame(clip)
        except BadValue as error:
            raise BadFile(file.path, str(error).rstrip("."), where=f"edit {n}") from None
        out.append(edit)
    return Edited(base, tuple(out))


def layer_names(story: Mapping[str, Any]) -> set[str]:
    """Names of the animations of a GLB that are layers, and not motions, by what elbowroom left in its extras."""
    base, edits = _layers(story)
    return {str(name) for name in (*base.values(), *(facts.get("animation") for facts in edits))}


def glb_edits(story: Mapping[str, Any], layers: Mapping[str, Clip]) -> Edited:
    """Edits in a GLB, by its extras and the clips of its layers; invalid entries are left out."""
    named, listed = _layers(story)
    base = {who: layers[name] for who, name in named.items() if isinstance(name, str) and name in layers}
    out = []
    for facts in listed:
        below, clip = base.get(_who(facts)), layers.get(str(facts.get("animation")))
        if below is None:
            continue
        joints = facts.get("joints")
        layer = Layer((), below.fps, below.start, np.zeros((1, 0, 4)))
        count = len(below.character.parents)
        known = isinstance(joints, list) and all(isinstance(j, int) and 0 <= j < count for j in joints)
        if clip is not None and known and isinstance(joints, list):
            # times of the file are rounded
            start = below.start + round((clip.start - below.start) * below.fps) / below.fps
            root = clip.root if facts.get("root") is True else None
            layer = Layer(tuple(joints), below.fps, start, clip.rotations[:, joints], root)
        edit = edit_of(facts, layer)
        if edit is not None and _fits(edit.layer, below):
            out.append(edit)
    return Edited(base, tuple(out))


def _layers(story: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Animations of bases by character, and facts on edits, as the extras of a GLB have them."""
    given = story.get("layers")
    base, edits = (given.get("base"), given.get("edits")) if isinstance(given, dict) else (None, None)
    listed = edits[:_MOST] if isinstance(edits, list) else []
    return base if isinstance(base, dict) else {}, [facts for facts in listed if isinstance(facts, dict)]


def _fits(layer: Layer, below: Clip) -> bool:
    try:
        layer.first_frame(below)
    except BadValue:
        return False
    return True


def edit_of(facts: object, layer: Layer) -> Edit | None:
    """Edit from `Edit.facts`, with its layer; None if invalid."""
    if not isinstance(facts, dict):
        return None
    limb, reason, during = (facts.get(key) for key in ("limb", "what", "during"))
    tier: EditTier | None = next((one for one in get_args(EditTier) if one == facts.get("tier")), None)
    numbers = [facts.get(key, 0) for key in ("checks", "nodes")]
    strength = facts.get("strength", 1.0)
    if not (isinstance(limb, str) and isinstance(reason, str) and tier is not None):
        return None
    if not (isinstance(during, list) and len(during) == 2 and all(_number(n) for n in (*during, *numbers, strength))):
        return None
    if not 0.0 <= strength <= 1.0:
        return None
    span = (float(during[0]), float(during[1]))
    layer = replace(layer, weight=float(strength))
    checks, nodes = (int(number) for number in numbers)
    muted = facts.get("muted") is True
    return Edit(_who(facts), limb, reason, span, tier, checks=checks, nodes=nodes, layer=layer, muted=muted)


def _who(facts: Any) -> str:
    """Character of an edit."""
    given = facts.get("who") if isinstance(facts, dict) else None
    return given[0] if isinstance(given, list) and given and isinstance(given[0], str) else ""


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and bool(np.isfinite(value))
