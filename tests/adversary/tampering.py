"""Proven files that are changed at random: every change must be seen by `verify`, and of NPZ by the checker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from adversary.verdicts import Verdict, certify_and_save, checker
from adversary.worlds import Case
from elbowroom.errors import ElbowroomError
from elbowroom.files.verify import changed_since

KIND = "changed file"
# Accessors whose numbers decide where something is.
_PLACED = ("POSITION", "JOINTS_0", "WEIGHTS_0")


def judge_change(case: Case, folder: Path) -> Verdict:
    """Write a world, change the file, and have it looked through; 'free' means that nothing was noticed."""
    rng = np.random.default_rng([13, case.seed])
    path = folder / f"change.{'npz' if rng.random() < 0.5 else 'glb'}"
    try:
        proven = certify_and_save(case.world, case.fps, path)
    except ElbowroomError as error:
        return Verdict(case.seed, KIND, refused=str(error))
    if changed_since(path):
        return Verdict(case.seed, KIND, True, (f"a whole file counts as changed: {changed_since(path)}",))
    done = changed_npz(path, rng) if path.suffix == ".npz" else changed_glb(path, rng)
    try:
        seen = bool(changed_since(path))
    except ElbowroomError:
        return Verdict(case.seed, KIND)  # it cannot be read any more
    if path.suffix == ".npz" and proven and seen:
        with np.errstate(all="ignore"):
            try:
                seen = any("changed since" in v.why for v in checker().verify(path, 50.0, first=False).violations)
            except checker().BadFile:
                return Verdict(case.seed, KIND)
    return Verdict(case.seed, KIND, not seen, () if seen else (f"not noticed: {done} of {path.name}",))


def changed_npz(path: Path, rng: np.random.Generator) -> str:
    """Change, add or remove an array of a file, or a fact of its evidence; what was done."""
    with np.load(path) as file:
        arrays = dict(file)
    keys = sorted(key for key in arrays if key != "evidence")
    key = keys[int(rng.integers(len(keys)))]
    way = rng.random()
    if way < 0.15:
        facts = json.loads(str(arrays["evidence"]))
        names = sorted(k for k in facts if k != "content")
        name = names[int(rng.integers(len(names)))]
        facts[name] = altered(facts[name], rng)
        arrays["evidence"], key = np.array(json.dumps(facts)), f"evidence {name}"
    elif way < 0.3:
        del arrays[key]
    elif way < 0.35:
        arrays[key + "_more"] = np.zeros(3)
    else:
        arrays[key] = altered_array(arrays[key], rng)
    np.savez(path, **arrays)
    return key


def altered_array(array: Any, rng: np.random.Generator) -> Any:
    """An array with one entry that is another; one more where it has none."""
    if not array.size:
        return np.zeros((1, *array.shape[1:]), array.dtype)
    out = np.array(array)
    at = tuple(int(rng.integers(n)) for n in out.shape)
    if out.dtype.kind == "U":
        out = out.astype(f"<U{out.dtype.itemsize // 4 + 1}")
        out[at] = f"{out[at]}x"
    elif out.dtype.kind == "b":
        out[at] = not out[at]
    elif out.dtype.kind in "iu":
        out[at] += 1
    else:
        out[at] = 0.25 if not np.isfinite(out[at]) else out[at] + float(rng.choice([1e-6, 1e-3, 1.0]))
    return out


def altered(value: Any, rng: np.random.Generator) -> Any:
    """Plain data that is another."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float):
        return value + float(rng.choice([1e-6, 0.5]))
    if isinstance(value, dict) and value:
        key = sorted(value)[int(rng.integers(len(value)))]
        return value | {key: altered(value[key], rng)}
    return f"{value}x" if isinstance(value, str) else [*value, 1] if isinstance(value, list) else {"x": 1}


def changed_glb(path: Path, rng: np.random.Generator) -> str:
    """Change a number of a mesh, a motion, a node or the extras of a file, or leave a node out; what was done."""
    data = path.read_bytes()
    size = int.from_bytes(data[12:16], "little")
    document, binary = json.loads(data[20 : 20 + size]), bytearray(data[28 + size :])
    way = rng.random()
    nodes, own = document.get("nodes", []), document["extras"]["elbowroom"]
    listed = numbers_of(document)
    if way < 0.4 and listed:
        accessor = document["accessors"][listed[int(rng.integers(len(listed)))]]
        view = document["bufferViews"][accessor["bufferView"]]
        width = {5121: 1, 5123: 2, 5125: 4, 5126: 4}[accessor["componentType"]]
        begin = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        count = accessor["count"] * {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}[accessor["type"]]
        at = begin + width * int(rng.integers(count))
        if width == 4 and accessor["componentType"] == 5126:
            number = np.frombuffer(bytes(binary[at : at + 4]), "<f4")[0] + np.float32(0.125)
            binary[at : at + 4] = np.float32(number).tobytes()
        else:
            binary[at] ^= 1
        done = "a number in the buffer"
    elif way < 0.6 and nodes:
        node = nodes[int(rng.integers(len(nodes)))]
        node["translation"] = [x + 0.01 for x in node.get("translation", [0.0, 0.0, 0.0])]
        done = f"the place of node {node['name']}"
    elif way < 0.75 and document["scenes"][0].get("nodes"):
        roots = document["scenes"][0]["nodes"]
        done = f"node {nodes[roots.pop(int(rng.integers(len(roots))))]['name']}"
    else:
        keys = sorted(own)
        key = keys[int(rng.integers(len(keys)))]
        if key == "proof":
            names = sorted(k for k in own[key] if k != "content")
            name = names[int(rng.integers(len(names)))]
            own[key][name] = altered(own[key][name], rng)
            done = f"{name} of the proof"
        else:
            own[key] = altered(own[key], rng)
            done = f"extra {key}"
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    body = len(text).to_bytes(4, "little") + b"JSON" + text
    if binary:
        body += len(binary).to_bytes(4, "little") + b"BIN\0" + bytes(binary)
    path.write_bytes(b"glTF" + (2).to_bytes(4, "little") + (12 + len(body)).to_bytes(4, "little") + body)
    return done


def numbers_of(document: dict[str, Any]) -> list[int]:
    """Accessors of what decides where something is: meshes, skins and motions."""
    found = [a["attributes"].get(key) for m in document.get("meshes", []) for a in m["primitives"] for key in _PLACED]
    found += [a.get("indices") for m in document.get("meshes", []) for a in m["primitives"]]
    found += [skin.get("inverseBindMatrices") for skin in document.get("skins", [])]
    found += [s[end] for a in document.get("animations", []) for s in a["samplers"] for end in ("input", "output")]
    return sorted({k for k in found if k is not None})
