"""How the time of a repair grows with the length of the clip, the triangles of the scene, and the people in it.

- Length: a walk from 2 s to 5 minutes; one post in the way of a hand, and, on another line, one for every ten seconds.
- Triangles: a walk along a bookcase whose every triangle is cut into four, again and again, with a millimetre of
  roughness; what is prepared once for a scene (its distance field, kept on disk, and trees of boxes) is a line of its
  own.
- People: one to twenty who walk side by side, each past a post of their own.

Times are those of the processor. A slope is the power of the last two points: 1 is linear.

    python benchmarks/growth_repair.py [--quick] [--only length|triangles|people] [--picture FILE.png] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import matplotlib
import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.human import preset
from elbowroom.geometry import kept as on_disk
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.solids import cylinder
from elbowroom.geometry.transforms import transform
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.state.result import Plan
from elbowroom.props.furniture import bookshelf
from elbowroom.world.certificate import certify
from elbowroom.world.fast import LimbCheck
from elbowroom.world.world import World
from growth import refined

matplotlib.use("Agg")

SPEED = 1.3
LENGTHS, PEOPLE = (2, 5, 10, 20, 40, 80, 150, 300), (1, 2, 3, 5, 7, 10, 14, 20)
MOST_TRIANGLES = 1_000_000
# Seconds for each post on the longer of the two lines.
EVERY = 10.0
# Metres between people who walk side by side.
LANE = 1.5

Row = dict[str, float]


@cache
def person() -> Character:
    """Who walks."""
    return preset("woman")


@cache
def strolling(seconds: float) -> Clip:
    """A walk of some length."""
    return walk(person(), SPEED, seconds=seconds)


def post(clip: Clip, t: float) -> Mesh:
    """A post where the right hand is at a time, its middle a little farther out."""
    T = clip.body.transforms(*clip.sample(np.array([t])))[0]
    x, y, _ = T[clip.character.role("right_hand"), :3, 3]
    return cylinder(0.03, 1.6, (x - 0.05, y, 0.8))


def measured(world: World, **facts: float) -> Row:
    """Seconds of the processor that a repair takes, all and in the checker, and what was done."""
    begun = time.process_time()
    plan: Plan = repair(world)
    took = time.process_time() - begun
    begun = time.process_time()
    certify(plan.world)
    row = {**facts, "repair_s": took, "certify_s": time.process_time() - begun, "plans": len(plan.edits)}
    row["found"] = float(plan.found)
    print({key: round(value, 3) for key, value in row.items()}, flush=True)
    return row


def by_length(lengths: tuple[int, ...]) -> Iterator[Row]:
    """Clips of growing length with one post, and with one for every ten seconds."""
    for seconds in lengths:
        clip = strolling(float(seconds))
        times = np.arange(1.0, seconds, EVERY)
        for count in dict.fromkeys((1, len(times))):
            static = {f"post{k}": post(clip, t) for k, t in enumerate(times[:count])}
            world = World(static=static, floor=0.0).with_character("ann", clip)
            yield measured(world, seconds=seconds, posts=count)


def by_triangles(most: int) -> Iterator[Row]:
    """Scenes of growing detail."""
    clip = strolling(4.0)
    T = transform([-0.42, -2.4, 0.0], rot.about([0, 0, 1.0], 0.5 * np.pi))
    meshes = {f"part{k}": mesh.moved(T) for k, mesh in enumerate(bookshelf(width=1.3, height=1.9, shelves=6, seed=3))}
    while True:
        size = sum(len(m.faces) for m in meshes.values())
        world = World(static=meshes, floor=0.0).with_character("ann", clip)
        kept, on_disk._load = on_disk._load, lambda path: None  # as if nothing were kept
        begun = time.process_time()
        LimbCheck(world, "ann", "right_arm", (0.0, 1.0))
        certify(world)
        prepared = time.process_time() - begun
        on_disk._load = kept
        yield measured(world, triangles=size, prepared_s=prepared)
        if size > most:
            return
        meshes = {name: refined(m, k) for k, (name, m) in enumerate(meshes.items())}


def by_people(counts: tuple[int, ...]) -> Iterator[Row]:
    """People side by side, each with a post."""
    clip = strolling(4.0)
    for count in counts:
        world = World(floor=0.0)
        for k in range(count):
            aside = np.array([LANE * k, 0.0, 0.0])
            world = world.with_character(f"p{k}", clip.with_(root=clip.root + aside))
            world = world.with_static(f"post{k}", post(clip, 2.0).moved(transform(aside, rot.IDENTITY)))
        yield measured(world, people=count)


def slope(rows: list[Row], by: str, what: str) -> float:
    """Power of growth between the two last points."""
    (a, b), (s, t) = ([row[key] for row in rows[-2:]] for key in (by, what))
    return float(np.log(t / s) / np.log(b / a))


def table(found: dict[str, list[Row]]) -> str:
    """All of it in markdown."""
    lines = []
    for name, rows in found.items():
        keys = [key for key in rows[0] if key != "found"]
        lines += [f"by {name}:", "", "| " + " | ".join(key.replace("_", " ") for key in keys) + " | free |"]
        lines += ["|" + "---|" * (len(keys) + 1)]
        for row in rows:
            cells = [f"{row[key]:.2f}" if key.endswith("_s") else f"{row[key]:,.0f}" for key in keys]
            lines.append("| " + " | ".join([*cells, "yes" if row["found"] else "no"]) + " |")
        told = [
            f"{line} {slope(some, keys[0], 'repair_s'):.2f}" for line, some in lines_of(name, rows) if len(some) > 1
        ]
        lines += ["", f"slope at the end: {', '.join(told)}", ""]
    return "\n".join(lines)


def lines_of(name: str, rows: list[Row]) -> list[tuple[str, list[Row]]]:
    """The lines of a plot."""
    if name != "length":
        return [("repair", rows)]
    longest = {row["seconds"]: row for row in rows}
    return [("one post", [row for row in rows if row["posts"] == 1]), ("a post every 10 s", list(longest.values()))]


def plot(found: dict[str, list[Row]], path: Path) -> None:
    """Seconds over length, triangles and people, with a line of slope 1."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(found), figsize=(4.2 * len(found), 3.6), dpi=150, squeeze=False)
    told = {"length": "seconds of motion", "triangles": "triangles of the scene", "people": "people"}
    for ax, (name, rows) in zip(axes[0], found.items(), strict=True):
        for line, some in lines_of(name, rows):
            x = np.array([row[next(iter(row))] for row in some])
            y = np.array([row["repair_s"] for row in some])
            ax.loglog(x, y, "o-", label=line)
        if name == "triangles":
            ax.loglog(x, [row["prepared_s"] for row in rows], "s--", color="grey", label="prepared once, then kept")
        ax.loglog(x[[0, -1]], y[-1] * x[[0, -1]] / x[-1], ":", color="black", label="linear")
        ax.set_xlabel(told[name])
        ax.grid(alpha=0.3, which="both")
        ax.legend(fontsize=8)
    axes[0, 0].set_ylabel("seconds of processor time")
    figure.suptitle("Repair of a walk")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the smaller half of each")
    parser.add_argument("--only", choices=("length", "triangles", "people"))
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    clip = strolling(4.0)
    repair(World(static={"post": post(clip, 2.0)}, floor=0.0).with_character("ann", clip))  # compiled
    share = 2 if given.quick else 1
    lines = {
        "length": lambda: by_length(LENGTHS[: len(LENGTHS) // share]),
        "triangles": lambda: by_triangles(MOST_TRIANGLES // (10 if given.quick else 1)),
        "people": lambda: by_people(PEOPLE[: len(PEOPLE) // share]),
    }
    found = {name: list(make()) for name, make in lines.items() if given.only in (None, name)}
    print(table(found))
    if given.picture is not None:
        plot(found, given.picture)
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
