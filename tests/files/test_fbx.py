"""FBX: skeletons, skins, takes, units and axes; damaged files get one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from elbowroom.errors import BadFile
from elbowroom.files.fbx import read_fbx
from elbowroom.files.glb_read import read_glb
from elbowroom.files.open import open_file

# A stick figure in metres, Z up, facing -Y: joint, parent, place.
FIGURE = {
    "Hips": ("", (0.0, 0.0, 0.95)),
    "Spine": ("Hips", (0.0, 0.0, 1.1)),
    "Neck": ("Spine", (0.0, 0.0, 1.5)),
    "Head": ("Neck", (0.0, 0.0, 1.6)),
    "LeftArm": ("Spine", (0.18, 0.0, 1.45)),
    "LeftForeArm": ("LeftArm", (0.46, 0.0, 1.45)),
    "LeftHand": ("LeftForeArm", (0.72, 0.0, 1.45)),
    "RightArm": ("Spine", (-0.18, 0.0, 1.45)),
    "RightForeArm": ("RightArm", (-0.46, 0.0, 1.45)),
    "RightHand": ("RightForeArm", (-0.72, 0.0, 1.45)),
    "LeftUpLeg": ("Hips", (0.1, 0.0, 0.9)),
    "LeftLeg": ("LeftUpLeg", (0.1, 0.0, 0.5)),
    "LeftFoot": ("LeftLeg", (0.1, 0.0, 0.08)),
    "RightUpLeg": ("Hips", (-0.1, 0.0, 0.9)),
    "RightLeg": ("RightUpLeg", (-0.1, 0.0, 0.5)),
    "RightFoot": ("RightLeg", (-0.1, 0.0, 0.08)),
}
SECOND = 46186158000  # ticks of FBX
FRAMES = 31


def text_fbx(unit_m: float = 0.01, up: str = "Y", walked: float = 1.0, span: bool = True) -> str:
    """A text FBX file of the figure, which goes `walked` metres to -Y in a second at 30 frames per second.

    Without `span` the take does not say how long it is.
    """

    def placed(p: tuple[float, float, float]) -> tuple[float, float, float]:
        x, y, z = (c / unit_m for c in p)
        return (x, z, -y) if up == "Y" else (x, y, z)

    models, links = [], []
    for k, (name, (parent, place)) in enumerate(FIGURE.items()):
        origin = FIGURE[parent][1] if parent else (0.0, 0.0, 0.0)
        x, y, z = placed(tuple(a - b for a, b in zip(place, origin, strict=True)))
        models.append(
            f'NodeAttribute: {200 + k}, "NodeAttribute::{name}", "LimbNode" {{\n TypeFlags: "Skeleton"\n}}\n'
            f'Model: {100 + k}, "Model::{name}", "LimbNode" {{\n Version: 232\n Properties70: {{\n'
            f'  P: "Lcl Translation", "Lcl Translation", "", "A",{x},{y},{z}\n }}\n}}'
        )
        above = 100 + list(FIGURE).index(parent) if parent else 0
        links += [f'C: "OO",{100 + k},{above}', f'C: "OO",{200 + k},{100 + k}']
    curves = []
    start, end = np.array(placed(FIGURE["Hips"][1])), np.array(placed((0.0, -walked, FIGURE["Hips"][1][2])))
    for axis, letter in enumerate("XYZ"):
        times = ",".join(str(SECOND * k // 30) for k in range(FRAMES))
        values = ",".join(f"{v:.9g}" for v in np.linspace(start[axis], end[axis], FRAMES))
        curves.append(
            f'AnimationCurve: {300 + axis}, "AnimCurve::", "" {{\n Default: 0\n KeyVer: 4008\n'
            f" KeyTime: *{FRAMES} {{\n  a: {times}\n }}\n KeyValueFloat: *{FRAMES} {{\n  a: {values}\n }}\n"
            f" KeyAttrFlags: *1 {{\n  a: 4\n }}\n KeyAttrDataFloat: *4 {{\n  a: 0,0,0,0\n }}\n"
            f" KeyAttrRefCount: *1 {{\n  a: {FRAMES}\n }}\n}}"
        )
        links.append(f'C: "OP",{300 + axis},400, "d|{letter}"')
    links += ['C: "OP",400,100, "Lcl Translation"', 'C: "OO",400,500', 'C: "OO",500,600']
    up_axis, front, sign = (1, 2, 1) if up == "Y" else (2, 1, -1)
    facts = {"UpAxis": up_axis, "UpAxisSign": 1, "FrontAxis": front, "FrontAxisSign": sign}
    facts |= {"CoordAxis": 0, "CoordAxisSign": 1, "TimeMode": 6}
    settings = "\n".join(f'  P: "{k}", "int", "Integer", "",{v}' for k, v in facts.items())
    settings += f'\n  P: "UnitScaleFactor", "double", "Number", "",{100 * unit_m:g}'
    ends = "\n".join(f'  P: "Local{k}", "KTime", "Time", "",{v}' for k, v in (("Start", 0), ("Stop", SECOND)) if span)
    stack = f'AnimationStack: 600, "AnimStack::walk", "" {{\n Properties70: {{\n{ends}\n }}\n}}'
    parts = [
        'AnimationLayer: 500, "AnimLayer::base", "" {\n}',
        'AnimationCurveNode: 400, "AnimCurveNode::T", "" {\n}',
        stack,
    ]
    objects = "\n".join([*models, *curves, *parts])
    return (
        "; FBX 7.4.0 project file\nFBXHeaderExtension:  {\n FBXHeaderVersion: 1003\n FBXVersion: 7400\n}\n"
        f"GlobalSettings:  {{\n Version: 1000\n Properties70: {{\n{settings}\n }}\n}}\n"
        f"Objects:  {{\n{objects}\n}}\nConnections:  {{\n" + "\n".join(links) + "\n}\n"
    )


def written(tmp_path: Path, **how) -> Path:
    path = tmp_path / "figure.fbx"
    path.write_text(text_fbx(**how))
    return path


@pytest.mark.parametrize(("unit_m", "up", "span"), [(0.01, "Y", True), (1.0, "Z", True), (0.0254, "Z", False)])
def test_units_axes_and_take(tmp_path, unit_m, up, span):
    opened = open_file(written(tmp_path, unit_m=unit_m, up=up, span=span))
    clip = opened.clip()
    assert (opened.format, clip.source.format, clip.fps, len(clip)) == ("FBX", "FBX", 30.0, FRAMES)
    assert {"left_hand", "right_foot", "head"} <= set(clip.character.roles)
    places = clip.positions()
    expected = np.array([FIGURE[name][1] for name in clip.character.skeleton.names])
    assert np.allclose(places[0], expected, atol=1e-5)
    assert np.allclose(places[15], expected + [0.0, -0.5, 0.0], atol=1e-5)


def test_units_and_axes_that_the_user_gives(tmp_path):
    clip = next(iter(read_fbx(written(tmp_path, unit_m=0.01, up="Y"), units=0.02, up="Z").clips.values()))
    x, y, z = FIGURE["LeftHand"][1]
    hand = clip.positions()[0, clip.character.skeleton.names.index("LeftHand")]
    assert np.allclose(hand, [2 * x, 2 * z, -2 * y], atol=1e-5)


def test_the_same_person_as_in_the_glb(data):
    path = data / "characters" / "rocketbox_male_adult_01"
    (fbx,), (glb,) = (f.characters.values() for f in (read_fbx(f"{path}.fbx"), read_glb(f"{path}.glb")))
    ours = dict(zip(fbx.skeleton.names, fbx.T_rest[:, :3, 3], strict=True))
    for name, place in zip(glb.skeleton.names, glb.T_rest[:, :3, 3], strict=True):
        assert np.allclose(ours[name], place, atol=1e-3), name
    assert fbx.skin is not None and glb.skin is not None
    assert fbx.skin.colors is None  # images replace the black of its materials, and are not read
    skins = [c.skin.posed(c.skeleton.T_rest) for c in (fbx, glb)]
    assert cKDTree(skins[0]).query(skins[1])[0].max() < 1e-3
    assert cKDTree(skins[1]).query(skins[0])[0].max() < 1e-3


@pytest.mark.parametrize(
    ("bend", "sentence"),
    [
        (lambda text: text[: len(text) // 2], "contains no rig"),
        (lambda text: "hello", "is not FBX"),
        (lambda text: text.replace("0,0.0,95.0", "0,nan,95.0").replace("95.0", "1e300"), "too large"),
        (lambda text: text.replace("LimbNode", "Null"), "contains no rig and no triangles"),
    ],
)
def test_damage_gets_one_sentence(tmp_path, bend, sentence):
    path = tmp_path / "bad.fbx"
    path.write_text(bend(text_fbx()))
    with pytest.raises(BadFile) as caught:
        open_file(path)
    text = str(caught.value)
    assert sentence in text and str(path) in text and "\n" not in text and text.endswith(".")


def test_a_crash_of_the_reader_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("elbowroom.files.fbx.READER", "elbowroom.files.no_such_module")
    with pytest.raises(BadFile, match="crashed"):
        read_fbx(written(tmp_path))
