"""Motion of the SMPL family in NPZ files (AMASS, SMPL-H, SMPL-X, what generators write): read and written back.

`poses` (T, 3 J) are rotation vectors of joints in a T pose whose axes are Y up, facing +Z, left +X; `trans` (T, 3)
moves the body. The order and the tree of the joints are published with the models; the bodies themselves are not free,
so that without a body model the built-in person lends its proportions.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character, Skin
from elbowroom.character.human import human
from elbowroom.character.rig import as_character
from elbowroom.character.skeleton import Skeleton
from elbowroom.errors import BadFile
from elbowroom.files.conventions import checked_fps, checked_up, file_points, guess_up, turned_points, turned_rotations
from elbowroom.files.npz_arrays import NpzArrays
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import MOST_FRAMES, Clip, Source
from elbowroom.motion.contacts import estimate_floor

_WANTED = "give the model as .npz; a .pkl file could run any program and is never opened"
# Joints of the body without hands and face, which come first in all models.
BODY_JOINTS = 22
# Joints that move one vertex.
_MOST_JOINTS = 8


class BodyModel:
    """A body model with the shape of one person: `joints` (J, 3) and a skin, metres, in the model's axes (Y up).

    `betas` (B,) are shape parameters; those that the model does not have are ignored. Corrections of the skin that
    depend on the pose are left out.
    """

    def __init__(self, path: Path, count: int, betas: Array) -> None:
        if path.suffix.lower() != ".npz":
            raise BadFile(path, f"is a body model with the suffix '{path.suffix}'", would_do=_WANTED)
        with NpzArrays(path) as file:
            self.vertices = file.get("v_template", 2).astype(float)
            regressor = file.get("J_regressor", 2).astype(float)
            self.weights = file.get("weights", 2).astype(float)
            self.faces = file.get("f", 2, kind="iu").astype(np.int32)
            shapes = file.get("shapedirs", 3).astype(float)
            tree = file.get("kintree_table", 2).astype(np.int64)
        size, joints = len(self.vertices), len(regressor)
        good = self.vertices.shape[1] == 3 and self.weights.shape == (size, joints) and self.faces.shape[1] == 3
        good = good and regressor.shape[1] == size and shapes.shape[:2] == (size, 3)
        if not good or not size or self.faces.min(initial=0) < 0 or self.faces.max(initial=0) >= size:
            raise BadFile(
                path, "has arrays that do not fit together", would_do="expected an SMPL, SMPL-H or SMPL-X model"
            )
        if joints != count and (count != BODY_JOINTS or joints < count):
            raise BadFile(path, f"has {joints} joints, and the motion {count}", would_do="give the model of the motion")
        used = min(len(betas), shapes.shape[2])
        self.vertices = self.vertices + shapes[:, :, :used] @ betas[:used]
        self.joints = (regressor @ self.vertices)[:count]
        for k in range(joints - 1, count - 1, -1):  # what the motion does not have moves with the joint above
            above = int(tree[0, k]) if tree.shape[1] == joints else -1
            if not 0 <= above < k:
                raise BadFile(path, f"has no tree of {joints} joints", where="array 'kintree_table'")
            self.weights[:, above] += self.weights[:, k]
        self.weights = self.weights[:, :count]

    def skin(self) -> Skin:
        """The surface bound to the joints in the T pose, +Z up."""
        order = np.argsort(-self.weights, axis=1)[:, :_MOST_JOINTS].astype(np.int32)
        weights = np.take_along_axis(self.weights, order, axis=1)
        total = weights.sum(axis=1, keepdims=True)
        inverse_bind = np.tile(np.eye(4), (len(self.joints), 1, 1))
        inverse_bind[:, :3, 3] = -turned_points(self.joints, "Y")
        return Skin(
            turned_points(self.vertices, "Y"), self.faces, order, weights / np.maximum(total, 1e-9), inverse_bind
        )


FORMAT = "SMPL"

# Joint, parent, and the built-in person's joint of that place: body, then hands, jaw and eyes of the larger models.
_BODY = (
    ("pelvis", "", "pelvis"),
    ("left_hip", "pelvis", "left_thigh"),
    ("right_hip", "pelvis", "right_thigh"),
    ("spine1", "pelvis", "spine1"),
    ("left_knee", "left_hip", "left_shin"),
    ("right_knee", "right_hip", "right_shin"),
    ("spine2", "spine1", "spine2"),
    ("left_ankle", "left_knee", "left_foot"),
    ("right_ankle", "right_knee", "right_foot"),
    ("spine3", "spine2", "chest"),
    ("left_foot", "left_ankle", "left_toes"),
    ("right_foot", "right_ankle", "right_toes"),
    ("neck", "spine3", "neck"),
    ("left_collar", "spine3", "left_clavicle"),
    ("right_collar", "spine3", "right_clavicle"),
    ("head", "neck", "head"),
    ("left_shoulder", "left_collar", "left_upper_arm"),
    ("right_shoulder", "right_collar", "right_upper_arm"),
    ("left_elbow", "left_shoulder", "left_forearm"),
    ("right_elbow", "right_shoulder", "right_forearm"),
    ("left_wrist", "left_elbow", "left_hand"),
    ("right_wrist", "right_elbow", "right_hand"),
)
_PALMS = tuple((f"{side}_hand", f"{side}_wrist", f"{side}_middle1") for side in ("left", "right"))
_FACE = (("jaw", "head", "head"), ("left_eye", "head", "left_eye"), ("right_eye", "head", "right_eye"))


def _fingers(side: str) -> tuple[tuple[str, str, str], ...]:
    out = []
    for finger, role in (
        ("index", "index"),
        ("middle", "middle"),
        ("pinky", "little"),
        ("ring", "ring"),
        ("thumb",) * 2,
    ):
        for k in (1, 2, 3):
            above = f"{side}_wrist" if k == 1 else f"{side}_{finger}{k - 1}"
            out.append((f"{side}_{finger}{k}", above, f"{side}_{role}{k}"))
    return tuple(out)


_HANDS = (*_fingers("left"), *_fingers("right"))
# Layout by the number of joints: body alone, SMPL, SMPL-H, SMPL-X.
LAYOUTS = {22: _BODY, 24: (*_BODY, *_PALMS), 52: (*_BODY, *_HANDS), 55: (*_BODY, *_FACE, *_HANDS)}

_RATES = ("mocap_framerate", "mocap_frame_rate", "fps", "frame_rate")
_TRANS = ("trans", "transl")
# Parts of the poses that SMPL-X files repeat under names of their own, as joints [first, last).
_PARTS = {
    "root_orient": (0, 1),
    "pose_body": (1, 22),
    "pose_jaw": (22, 23),
    "pose_eye": (23, 25),
    "pose_hand": (25, 55),
}
_DEFAULT_FPS = 30.0
# Distance from the origin, metres, and shape parameters, which are standard deviations, beyond which a file is wrong.
_FARTHEST_M, _LARGEST_BETA = 1e5, 100.0
# The root of the body model in the T pose, and the up axis: what a file of a world needs to be written so again.
_ORIGIN, _UP = "smpl/origin", "smpl/up"
# Arrays of a world that stands beside the motion.
_WORLD = (
    *("times", "floor", "evidence", "ignored_pair", "excused_pair", "excused_during", "linked_pair", "linked_during"),
    *(f"allowed_{key}" for key in ("pair", "depth", "during", "why", "shift")),
)
# Factor on the built-in person within which a body may be resized so that its feet meet the floor.
_RESIZED = (0.75, 1.25)


@dataclass(frozen=True)
class SmplHints:
    """User's hints on a motion: frame rate, up axis 'Y' or 'Z', NPZ file of a body model."""

    fps: float | None = None
    up: str | None = None
    model: Path | None = None


def is_smpl(file: NpzArrays) -> bool:
    """Return whether an NPZ file has poses of the SMPL family."""
    return ("poses" in file or {"root_orient", "pose_body"} <= set(file.keys)) and any(key in file for key in _TRANS)


def layout_skeleton(count: int, height_m: float = 1.70, joints: Array | None = None) -> Skeleton:
    """Skeleton of as many joints in the T pose, +Z up, facing -Y, feet on z = 0; `joints` (J, 3) where they are known.

    Otherwise they are where the built-in person of that height has them.
    """
    layout = LAYOUTS[count]
    if joints is None:
        person = human(height_m, skin=False).skeleton
        at = {name: person.T_rest[person.index(role), :3, 3] for name, _, role in layout}
        if "jaw" in at:
            at["jaw"] = at["head"] + [0.0, -0.02, 0.0]
    else:
        at = {name: joints[k] for k, (name, _, _) in enumerate(layout)}
    index = {name: k for k, (name, _, _) in enumerate(layout)}
    parents = np.array([index.get(above, -1) for _, above, _ in layout])
    offsets = np.array([at[name] - (at[above] if above else np.zeros(3)) for name, above, _ in layout])
    return Skeleton(tuple(index), parents, offsets)


def read_smpl(file: NpzArrays, hints: SmplHints) -> Clip:
    """Read a motion of the SMPL family on the body of a model, or on one of the built-in person's proportions."""
    poses, trans = _poses(file), _trans(file)
    if len(trans) != len(poses):
        raise BadFile(file.path, f"has {len(poses)} poses and {len(trans)} translations")
    fps, notes = _rate(file, hints.fps)
    count = poses.shape[1]
    betas = _betas(file)
    model = None if hints.model is None else BodyModel(hints.model, count, betas)
    origin = np.zeros(3) if model is None else model.joints[0]
    up = checked_up(hints.up) if hints.up is not None else None
    if up is None:
        # up axis and the sentence on it, from joints in the file's axes
        skeleton = layout_skeleton(count)
        flat = Skeleton(skeleton.names, skeleton.parents, file_points(skeleton.offsets, "Y"))
        some = slice(None, None, max(1, len(poses) // 200))
        places = flat.forward((trans + origin)[some], rot.exp(poses[some]))[..., :3, 3]
        up, note = guess_up(flat.names, places)
        notes.append(note)
    # roots (T, 3) and local rotations (T, J, 4) with Z up from rotation vectors (T, J, 3) and pelves (T, 3)
    q = rot.exp(poses)
    out = turned_rotations(q, "Y")
    if up == "Z":
        out[:, 0] = rot.multiply(q[:, 0], rot.conjugate(_MODEL_TO_WORLD))
    root, q = turned_points(trans + origin, up), out
    name = file.path.stem
    if model is not None:
        joints = turned_points(model.joints, "Y") - [0.0, 0.0, model.vertices[:, 1].min()]
        character = _character(layout_skeleton(count, joints=joints), name, q, model)
    else:
        character, note = _resized(count, name, root, q, fps)
        notes.append(note)
    return Clip(character, fps, root, q, name=name, source=_source(file, up, origin, len(poses), notes))


def stored_source(file: NpzArrays) -> Source | None:
    """Source of a motion that was written as `smpl_arrays` beside a world; None if there is none."""
    if not (is_smpl(file) and _ORIGIN in file and _UP in file):
        return None
    up = str(file.get(_UP, 0, kind="U"))
    return _source(file, up if up in "YZ" else "Z", file.get(_ORIGIN, 1, (3,)), len(_poses(file)), [])


def _source(file: NpzArrays, up: str, origin: Array, frames: int, notes: list[str]) -> Source:
    own = [key for key in file.keys if "/" not in key and key not in ("poses", *_TRANS, *_WORLD)]
    arrays = {key: value for key in own if (value := file.any(key)) is not None}
    extra = {**arrays, _ORIGIN: origin, "/frames": np.array(frames), "/trans": np.array(_trans_key(file))}
    return Source(str(file.path), FORMAT, 1.0, up, notes=tuple(notes), extra=extra)


def smpl_arrays(clip: Clip, original: Clip) -> dict[str, NDArray]:
    """Arrays of a clip in the form of the file that `original` was read from; none if it came from elsewhere."""
    source, names = original.source, clip.character.skeleton.names
    layout = LAYOUTS.get(len(names))
    if source.format != FORMAT or layout is None or names != tuple(name for name, _, _ in layout):
        return {}
    extra = dict(source.extra)
    origin, frames, trans_key = (extra.pop(key) for key in (_ORIGIN, "/frames", "/trans"))
    q = np.array(clip.rotations)
    q[:, 1:] = _to_file(q[:, 1:])
    # with Z up the root's rotation leads from the model's axes to the world's
    q[:, 0] = rot.multiply(q[:, 0], _MODEL_TO_WORLD) if source.up == "Z" else _to_file(q[:, 0])
    vectors = rot.log(q)
    out = {
        key: value
        for key, value in extra.items()
        if len(clip) == int(frames) or value.ndim == 0 or len(value) != int(frames)
    }
    out |= {_ORIGIN: origin, _UP: np.array(source.up)}
    out |= {"poses": vectors.reshape(len(clip), -1), str(trans_key): file_points(clip.root, source.up) - origin}
    out |= {key: np.array(clip.fps) for key in _RATES if key in extra}
    if "mocap_time_length" in extra:
        out["mocap_time_length"] = np.array(len(clip) / clip.fps)
    out |= {k: vectors[:, a:b].reshape(len(clip), -1) for k, (a, b) in _PARTS.items() if k in extra and b <= len(names)}
    return out


# Turn from the model's axes (Y up) to Z up: (x, y, z) -> (x, -z, y).
_MODEL_TO_WORLD = rot.about([1.0, 0.0, 0.0], np.pi / 2)


def _to_file(q: Array) -> Array:
    return np.stack([q[..., 0], q[..., 1], q[..., 3], -q[..., 2]], axis=-1)


def _poses(file: NpzArrays) -> Array:
    """Rotation vectors (T, J, 3)."""
    if "poses" in file:
        rows = file.any("poses")
        if rows is None or rows.dtype.kind not in "iuf" or rows.ndim not in (2, 3):
            raise BadFile(file.path, "is not a table of numbers", where="array 'poses'", would_do="expected (T, 3 J)")
        flat = rows.reshape(len(rows), int(np.prod(rows.shape[1:]))).astype(float)
    else:
        parts = [file.get(key, 2) for key in ("root_orient", "pose_body")]
        flat = np.concatenate(parts, axis=1).astype(float)
    count, rest = divmod(flat.shape[1], 3)
    if rest or count not in LAYOUTS:
        known = ", ".join(str(3 * n) for n in LAYOUTS)
        raise BadFile(file.path, f"has {flat.shape[1]} numbers per frame", "array 'poses'", f"expected {known}")
    if not 0 < len(flat) <= MOST_FRAMES:
        raise BadFile(file.path, f"has {len(flat):,} frames", "array 'poses'", f"1 to {MOST_FRAMES:,} are read")
    if not np.all(np.abs(flat) < 100.0):
        raise BadFile(file.path, "contains angles that are not rotation vectors", where="array 'poses'")
    return flat.reshape(len(flat), count, 3)


def _trans_key(file: NpzArrays) -> str:
    return next(key for key in _TRANS if key in file)


def _trans(file: NpzArrays) -> Array:
    rows, where = file.get(_trans_key(file), 2), f"array '{_trans_key(file)}'"
    if rows.shape[1] != 3:
        raise BadFile(file.path, f"has the shape {rows.shape}", where, "expected metres (T, 3)")
    if not np.all(np.abs(rows) < _FARTHEST_M):
        raise BadFile(file.path, f"has numbers beyond {_FARTHEST_M:g}", where, "expected metres")
    return rows.astype(float)


def _betas(file: NpzArrays) -> Array:
    found = file.any("betas") if "betas" in file else np.zeros(0)
    if found is None or found.dtype.kind not in "iuf" or found.ndim > 2:
        raise BadFile(file.path, "is no list of numbers", "array 'betas'", "expected shape parameters (B,)")
    if not np.all(np.abs(found) < _LARGEST_BETA):
        raise BadFile(file.path, f"has numbers beyond {_LARGEST_BETA:g}", "array 'betas'", "expected shape parameters")
    return np.atleast_2d(found)[0].astype(float) if found.size else np.zeros(0)  # some repeat them for every frame


def _rate(file: NpzArrays, given: float | None) -> tuple[float, list[str]]:
    if given is not None:
        return checked_fps(given), []
    for key in _RATES:
        if key in file:
            value = file.any(key)
            number = value is not None and value.dtype.kind in "iuf" and value.size == 1
            fps = float(value.reshape(())) if value is not None and number else 0.0
            if not 0.1 <= fps <= 1e5:
                what = f"is {fps:g}" if number else "is not one number"
                raise BadFile(file.path, what, f"array '{key}'", "expected frames per second (option: fps)")
            return fps, []
    return _DEFAULT_FPS, [f"Frame rate assumed: {_DEFAULT_FPS:g} per second (option: fps)."]


def _character(skeleton: Skeleton, name: str, q: Array, model: BodyModel | None = None) -> Character:
    skin = None if model is None else model.skin()
    return as_character(skeleton, name=name, skin=skin, poses=q[:: max(1, len(q) // 200)])


def _resized(count: int, name: str, root: Array, q: Array, fps: float) -> tuple[Character, str]:
    """Character of the built-in person's proportions, as tall as its feet meet the floor, and the sentence on that."""
    height = 1.70
    character = _character(layout_skeleton(count, height), name, q)
    probe = Clip(character, fps, root, q)
    floor = estimate_floor(probe)
    above = float(np.median(root[:, 2]))
    factor = above / (above - floor) if above - floor > 0.2 else 0.0
    if _RESIZED[0] <= factor <= _RESIZED[1]:
        height *= factor
        character = _character(layout_skeleton(count, height), name, q)
    return character, (
        f"No body model was given: proportions of the built-in person, {height:.2f} m tall (option: body-model)."
    )
