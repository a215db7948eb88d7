"""A page of text cannot ask for gigabytes or hours: what is too much is told in a sentence, before it is made."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from elbowroom.errors import BadFile
from elbowroom.storyboard.storyboard import parse_storyboard

SECONDS = 2.0  # of work until the sentence
PEOPLE = "characters:\n  ann: {{clip: {}}}\n"
TOO_MUCH = {
    "objects": (
        "objects:\n" + "".join(f"  o{k}: {{mesh: {{box: [1, 1, 1]}}}}\n" for k in range(25_000)),
        "objects: must have at most 1000 items, not 25000",
    ),
    "scene meshes": (
        "scene:\n  meshes:\n" + "  - {box: [1, 1, 1]}\n" * 25_000,
        "meshes: must have at most 1000 items, not 25000",
    ),
    "people": (
        "characters:\n" + "".join(f"  p{k}: {{body: {{preset: man}}}}\n" for k in range(400)),
        "characters: must have at most 100 items, not 400",
    ),
    "long way": (PEOPLE.format("{walk_along: {path: [[0, 0], [1000000, 0]]}}"), "50,000,000 frames in all"),
    "long walk": (PEOPLE.format("{walk: {seconds: 1000000000}}"), "must be less than or equal to 3600"),
    "quick idling": ("fps: 480\n" + PEOPLE.format("{idle: {seconds: 600}}"), "288,000 frames in all"),
    "many idlers": (
        "characters:\n" + "".join(f"  p{k}: {{clip: {{idle: {{seconds: 100}}}}}}\n" for k in range(50)),
        "300,000 frames in all",
    ),
    "rate": ("fps: 1000000000\n" + PEOPLE.format("{idle: {}}"), "fps: must be less than or equal to 1000"),
    "a day": (
        "objects:\n  o: {mesh: {box: [1, 1, 1]}, path: [{t: 0, at: [0, 0, 0]}, {t: 86400, at: [1, 0, 0]}]}\n",
        "86400 s at 60 frames per second is more than 200,000 frames",
    ),
    "aliases": ("about: &a x\ntags: [*a, *a]\n", "refers to an anchor"),
    "depth": ("tags: " + "[" * 100_000, "nested too deeply"),
}


@pytest.mark.parametrize("what", TOO_MUCH)
def test_too_much_is_told_at_once(what: str) -> None:
    text, said = TOO_MUCH[what]
    start = time.process_time()
    with pytest.raises(BadFile, match=said):
        parse_storyboard("elbowroom: 1\n" + text)
    assert time.process_time() - start < SECONDS


def test_a_robot_of_thousands_of_links_is_told_at_once(tmp_path: Path) -> None:
    links = "".join(f'<link name="l{k}"/>' for k in range(3000))
    joints = "".join(
        f'<joint name="j{k}" type="fixed"><parent link="l{k - 1}"/><child link="l{k}"/></joint>' for k in range(1, 3000)
    )
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{links}{joints}</robot>')
    start = time.process_time()
    with pytest.raises(BadFile, match="has 3000 links; at most 200"):
        parse_storyboard("elbowroom: 1\ncharacters:\n  r: {body: {robot: {file: r.urdf}}}\n", tmp_path / "story.yaml")
    assert time.process_time() - start < SECONDS
