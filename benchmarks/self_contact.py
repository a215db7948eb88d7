"""Depth to which the parts of recorded people overlap each other, against how thick the parts are.

    python benchmarks/self_contact.py [--every 0.033] [--only 02_01 07_12]

Every clip of the data set on its own rig, or for markers on the body that is fitted to them, without scene and floor.
Shapes are rigid and people are not: the first table says which overlap the clips have, in millimetres and as a share of
the radius of the largest ball inside the thinner and the thicker part. The second counts clips that rules would reject:
caps in force are those of `world/allowances.py`. Soft tissue of belly and thighs is measured by soft_tissue.py.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from elbowroom.errors import ElbowroomError
from elbowroom.files.open import open_file
from elbowroom.world.allowances import cap_of, own_pairs
from elbowroom.world.exact import ExactWorld
from elbowroom.world.world import World
from repair_clips import DATA

_SUFFIXES = (".bvh", ".amc", ".c3d")
_FINGERS = ("thumb", "index", "middle", "ring", "little")
_TRUNK = ("pelvis", "spine1", "spine2", "chest", "clavicle")
# Kinds of pairs listed behind each rule.
_NAMED = 4


@dataclass(frozen=True)
class Overlap:
    """Deepest overlap of two parts in a clip, metres; radii of the largest balls inside them, and the cap in force."""

    clip: str
    roles: tuple[str, str]
    depth: float
    thin: float
    thick: float
    cap: float

    @property
    def kind(self) -> str:
        """Both parts without their sides."""
        return " and ".join(sorted(map(kind_of, self.roles)))


def kind_of(role: str) -> str:
    """Part of a body without its side, all fingers and vertebrae alike."""
    plain = role.removeprefix("left_").removeprefix("right_")
    return "hand" if plain.startswith(_FINGERS) else "trunk" if plain in _TRUNK else plain


def overlaps(world: World, who: str, every_s: float, clip: str) -> list[Overlap]:
    """Deepest overlap of each pair of a body that overlaps at some time of a clip."""
    exact = ExactWorld(world)
    pairs = set(own_pairs(exact, who))
    found: dict[int, float] = {}
    for t in np.arange(world.span[0], world.span[1] + 1e-9, every_s).tolist():
        exact.place(t)
        for k in pairs.intersection(exact.near(0.0).tolist()):
            value = exact.distance(k).value
            if value is not None and value < 0.0:
                found[k] = max(found.get(k, 0.0), -value)
    out = []
    for k, depth in found.items():
        a, b = (int(i) for i in exact.index[k])
        thin, thick = sorted(exact.placed.forms[i].thickness for i in (a, b))
        roles = exact.parts[a].role, exact.parts[b].role
        out.append(Overlap(clip, roles, depth, thin, thick, cap_of(exact, k, {who})))
    return out


# Caps on the depth of a pair, metres.
RULES: dict[str, Callable[[Overlap], float]] = {
    "100 mm": lambda o: 0.1,
    "100 mm and 0.9 of the thinner part": lambda o: min(0.1, 0.9 * o.thin),
    "100 mm and 0.95 of the thicker part": lambda o: min(0.1, 0.95 * o.thick),
    "100 mm and 0.95 of both parts": lambda o: min(0.1, 0.95 * (o.thin + o.thick)),
    "caps in force": lambda o: o.cap,
}


def main() -> None:
    """Measure all clips and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=float, default=1.0 / 30.0, help="seconds between two measurements")
    parser.add_argument("--only", nargs="*", help="stems of clips")
    told = parser.parse_args()
    files = sorted(p for p in (DATA / "mocap").rglob("*") if p.suffix in _SUFFIXES)
    found: list[Overlap] = []
    clips = 0
    for path in files:
        if told.only and path.stem not in told.only:
            continue
        name = f"{path.parent.name}/{path.stem}"
        try:
            found += overlaps(World(floor=None).with_character("a", open_file(path).clip()), "a", told.every, name)
        except ElbowroomError as error:
            print(f"left out: {error}")
            continue
        clips += 1
    by_kind: dict[str, list[Overlap]] = defaultdict(list)
    for o in found:
        by_kind[o.kind].append(o)
    print(f"{clips} clips\n| pair | clips | median mm | p95 mm | most mm | most of the thinner | of the thicker |")
    print("|---|---|---|---|---|---|---|")
    for kind, rows in sorted(by_kind.items(), key=lambda item: -max(o.depth for o in item[1])):
        mm = 1000 * np.percentile([o.depth for o in rows], [50, 95, 100])
        thin, thick = max(o.depth / o.thin for o in rows), max(o.depth / o.thick for o in rows)
        count = len({o.clip for o in rows})
        print(f"| {kind} | {count} | {mm[0]:.0f} | {mm[1]:.0f} | {mm[2]:.0f} | {thin:.2f} | {thick:.2f} |")
    print("\n| cap | clips with deeper overlaps | of which |\n|---|---|---|")
    for name, cap in RULES.items():
        over = {(o.kind, o.clip) for o in found if o.depth > cap(o)}
        kinds = ", ".join(f"{kind} {n}" for kind, n in Counter(kind for kind, _ in over).most_common(_NAMED))
        print(f"| {name} | {len({clip for _, clip in over})} | {kinds} |")
    print("deeper than the caps in force:", ", ".join(sorted({o.clip for o in found if o.depth > o.cap})))


if __name__ == "__main__":
    main()
