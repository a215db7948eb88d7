"""Whatever is wrong with a storyboard comes out as one sentence with the file and the line."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from elbowroom.errors import BadFile, ElbowroomError
from elbowroom.storyboard.storyboard import parse_storyboard, read_storyboard
from elbowroom.storyboard.yaml_lines import parse_yaml

STANDING = "characters: {ann: {body: {human: {skin: false}}}}\n"
BALL = "objects: {ball: {mesh: {sphere: 0.1}}}\n"

# Text after the first line 'elbowroom: 1', the line to blame, and what is said.
WRONG = {
    "unknown section": ("caracters: {}", 2, "caracters: is not a key of this part; did you mean 'characters'?"),
    "unknown key": ("objects:\n  b:\n    mesh: {sfere: 1}", 4, "objects.b.mesh.sfere: .*did you mean 'sphere'?"),
    "key of another part": ("objects:\n  b: {mesh: {sphere: 1}, slides: 2}", 3, "objects.b.slides: is not a key"),
    "times": (
        "objects:\n  b:\n    mesh: {sphere: 1}\n    path:\n    - {t: 1, at: [0, 0, 0]}\n    - {t: 1, at: [0, 0, 0]}",
        7,
        r"objects.b.path\[1\].t: must increase, but 1 s follows 1 s; give the keyframes in order of time",
    ),
    "not a number": ("objects: {b: {mesh: {sphere: big}}}", 2, "mesh.sphere: must be a number, not 'big'"),
    "NaN": ("objects: {b: {mesh: {sphere: .nan}}}", 2, "mesh.sphere: must be a finite number, not nan"),
    "infinite": ("fps: .inf", 2, "fps: must be a finite number"),
    "huge": ("objects: {b: {mesh: {sphere: 1e300}}}", 2, "sphere: must be less than or equal to 1000000"),
    "too large for a float": ("fps: 1e999", 2, "fps: must be a finite number"),
    "negative": ("objects: {b: {mesh: {sphere: -1}}}", 2, "sphere: must be greater than 0, not -1"),
    "edit of nothing": ("edits:\n- {strength: 0.5}", 3, r"edits\[0\]: needs exactly one of 'number' and 'reason'"),
    "edit twice": ("edits:\n- {number: 1, reason: a, mute: true}", 3, "'number' and 'reason' are given"),
    "edit as it is": ("edits:\n- {number: 1}", 3, r"edits\[0\]: changes nothing; give a strength, or mute: true"),
    "edit too strong": ("edits:\n- {number: 1, strength: 2}", 3, "strength: must be less than or equal to 1"),
    "edit number 0": ("edits:\n- {number: 0, mute: true}", 3, "number: must be greater than or equal to 1"),
    "truth value": ("fps: true", 2, "fps: must be a number, not true"),
    "two sources": ("objects: {b: {mesh: {sphere: 1, box: [1, 1, 1]}}}", 2, "exactly one of .*'box' and 'sphere'"),
    "no source": ("objects: {b: {mesh: {}}}", 2, "exactly one of .*none is given"),
    "missing key": ("objects: {b: {mass: 1}}", 2, "objects.b: has no 'mesh'; add it"),
    "short vector": ("objects: {b: {mesh: {box: [1, 1]}}}", 2, "mesh.box: must have at least 3 items, not 2"),
    "wrong form": ("objects: {b: {mesh: 5}}", 2, "objects.b.mesh: cannot be 5; it takes text or keys"),
    "empty section": ("fps: 30\nobjects:", 3, "objects: must have keys, not nothing"),
    "place and path": (
        "objects: {b: {mesh: {sphere: 1}, at: [0, 0, 0], path: [{t: 0, at: [0, 0, 0]}]}}",
        2,
        "give one of 'path' and 'at'",
    ),
    "missing mesh file": ("scene:\n  meshes:\n    - {file: no.glb}", 4, r"scene.meshes\[0\]: .*no.glb: does not exist"),
    "folder as mesh": ("scene: {meshes: [{file: .}]}", 2, "is a folder"),
    "missing clip": ("characters:\n  ann: {clip: no.bvh}", 3, "characters.ann.clip: .*no.bvh: does not exist"),
    "speed": ("characters:\n  ann:\n    clip: {walk: {speed: 9}}", 4, "clip: walking speed must be between"),
    "height": ("characters:\n  ann:\n    body: {human: {height: 17}}", 4, "body: height 17.0 m is not between"),
    "preset": ("characters:\n  ann: {body: {preset: elf}}", 3, "preset: must be 'woman', .* not 'elf'"),
    "nobody": ("characters: {ann: {}}", 2, "needs a 'body', a 'clip' or both"),
    "robot's keys": ("characters: {ann: {clip: {keys: [{t: 0}]}}}", 2, "are for robots, and this is a person"),
    "unknown holder": (BALL + "holds:\n  - {object: ball, by: ann}", 4, r"holds\[0\].by: unknown character 'ann'"),
    "unknown object": (STANDING + "holds:\n  - {object: hat, by: ann}", 4, r"holds\[0\]: unknown object 'hat'"),
    "unknown hand": (BALL + STANDING + "holds:\n  - {object: ball, by: ann, hand: third}", 5, "left, right"),
    "hold backwards": (BALL + STANDING + "holds:\n  - {object: ball, by: ann, during: [2, 1]}", 5, "earlier to later"),
    "unknown fixture": ("objects: {b: {mesh: {sphere: 1}, on: drawer}}", 2, "objects.b.on: unknown fixture 'drawer'"),
    "unknown part": (
        STANDING + "contacts:\n  - {who: ann.wing, on: floor}",
        4,
        r"contacts\[0\].who: unknown part of ann",
    ),
    "kind": ("contacts: [{who: a, on: floor, kind: push}]", 2, "kind: must be 'support', 'grip', 'touch' or 'seat'"),
    "range": (
        "fixtures: {d: {mesh: {sphere: 1}, slides: {axis: [0, 0, 1], range: [1, 0]}}}",
        2,
        "slides.range: goes from 1 to 0",
    ),
    "axis": (
        "fixtures: {d: {mesh: {sphere: 1}, turns: {axis: [0, 0, 0], range: [0, 1]}}}",
        2,
        "turns.axis: has no length",
    ),
    "state": (
        "fixtures:\n d:\n  mesh: x.stl\n  slides: {axis: [0, 0, 1], range: [0, 1]}\n  state:\n  - {t: 0, value: 3}",
        7,
        r"fixtures.d.state\[0\].value: 3 is out of range; the range is 0 to 1",
    ),
    "name twice": (BALL + "characters: {ball: {body: {human: {skin: false}}}}", 3, "already the name of an object"),
    "fixture's name": (
        BALL + "fixtures: {ball: {mesh: {sphere: 1}, slides: {axis: [0, 0, 1], range: [0, 1]}}}",
        2,
        "name of a fixture",
    ),
    "reserved name": ("objects: {floor: {mesh: {sphere: 1}}}", 2, "reserved for the floor"),
    "dotted name": ("objects: {a.b: {mesh: {sphere: 1}}}", 2, "the key must be a name without '.'"),
    "floor": ("scene: {floor: low}", 2, "scene.floor: must be 'auto' or 'none', not 'low'"),
    "key twice": ("fps: 1\nfps: 2", 3, "has the key 'fps' twice, first on line 2"),
    "alias": (
        "objects:\n  a: &a {mesh: {sphere: 1}}\n  b: *a",
        4,
        "objects.b: refers to an anchor; write the values out",
    ),
    "tag": ("about: !!python/object/apply:os.system [ls]", 2, "about: has the tag"),
    "nesting": ("about: " + "[" * 100_000, 2, "nested too deeply; at most 32"),
    "no YAML": ("fps: [1", 2, "is not valid YAML"),
    "tabs": ("scene:\n\tfloor: 0", 3, "is not valid YAML"),
    "key that is a list": ("? [1]\n: 2", 2, "keys are words"),
    "two documents": ("---\nfps: 1", 2, "more than one document"),
}


@pytest.mark.parametrize(("text", "line", "said"), WRONG.values(), ids=WRONG.keys())
def test_the_line_is_named(text: str, line: int, said: str, tmp_path: Path):
    path = tmp_path / "hall.yaml"
    path.write_text("elbowroom: 1\n" + text)
    with pytest.raises(BadFile, match=said) as caught:
        read_storyboard(path)
    told = str(caught.value)
    assert told.startswith(f"{path}, line {line}: ") and "\n" not in told and told.endswith(".")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "begin with the line 'elbowroom: 1'"),
        ("- 1", "begin with the line 'elbowroom: 1'"),
        ("fps: 30", "has no 'elbowroom'"),
        ("elbowroom: 2", "elbowroom: must be 1, not 2"),
    ],
)
def test_other_files_are_no_storyboards(text: str, said: str):
    with pytest.raises(BadFile, match=said):
        parse_storyboard(text)


def test_files_that_cannot_be_read(tmp_path: Path):
    (tmp_path / "raw.yaml").write_bytes(b"\xff\xfe\x00\x01")
    (tmp_path / "big.yaml").write_bytes(b"# " + b"x" * 2**20)
    for path, said in [
        (tmp_path, "is a folder"),
        (tmp_path / "no.yaml", "does not exist"),
        (tmp_path / "raw.yaml", "is not text"),
        (tmp_path / "big.yaml", "at most 1 MB are read"),
    ]:
        with pytest.raises(BadFile, match=said):
            read_storyboard(path)


def test_words_are_read_as_in_yaml_1_2():
    found = parse_yaml(Path("x"), "{on: off, n: 1e-3, i: -7, t: true, s: 'true', z: ~, time: 1:30, big: 0x10}").values
    expected = {"on": "off", "n": 1e-3, "i": -7, "t": True, "s": "true", "z": None, "time": "1:30", "big": "0x10"}
    assert found == expected


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-10, 10)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["ann", "end"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["mesh", "sphere", "box", "at", "turn", "path", "t", "ann", "body", "file", "during", "x.y"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
SECTIONS = ["scene", "objects", "fixtures", "characters", "holds", "contacts", "tasks", "fps", "about"]


@given(st.dictionaries(st.sampled_from(SECTIONS), VALUES, max_size=3))
@settings(max_examples=150, deadline=None)
def test_any_values_make_a_world_or_one_sentence(values: dict):
    text = yaml.safe_dump({"elbowroom": 1, **values}, allow_unicode=True)
    try:
        parse_storyboard(text, "any.yaml")
    except ElbowroomError as error:
        assert str(error).startswith("any.yaml") and "\n" not in str(error)
