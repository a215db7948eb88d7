"""Fingers that close on things: how near they come, how many touch, and how long it takes.

Boxes, a book, a cylinder, a ball, a drawer's handle and lumps, each taken by woman, child and gorilla with both hands.
Grasps are proposed anew for each; some of them are closed. Times are those of the processor.

    python benchmarks/hands.py [--grasps 10] [--quick]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "posing"))

from hand_things import thing

from elbowroom.character.hands import hand_size
from elbowroom.character.human import preset
from elbowroom.geometry.transforms import inverse
from elbowroom.posing.fingers import TOUCH, close_fingers
from elbowroom.posing.grasps import propose_grasps

PEOPLE, THINGS = ("woman", "child", "gorilla"), ("box", "book", "cylinder", "ball", "handle", "blob1", "blob2")


def measured(who: str, things: tuple[str, ...], count: int) -> dict[str, list[float]]:
    """Gaps (mm) of fingers that touch and the deepest of all, how many touch, and times, of one character."""
    body = preset(who, skin=False)
    out: dict[str, list[float]] = {key: [] for key in ("gap", "deepest", "touching", "close", "propose", "grasps")}
    for hand in ("left", "right"):
        for name in things:
            mesh, frames = thing(name, hand_size(body, hand))
            begun = time.process_time()
            grasps = propose_grasps(body, hand, mesh, frames=frames)
            out["propose"].append(time.process_time() - begun)
            out["grasps"].append(len(grasps))
            for k in np.unique(np.linspace(0, len(grasps) - 1, count).astype(int)):
                grasp = grasps[k]
                begun = time.process_time()
                closed = close_fingers(body, hand, inverse(grasp.T_thing_hand), mesh, grasp.open, grasp.shape)
                out["close"].append(1e3 * (time.process_time() - begun))
                gaps = [1e3 * gap for gap in closed.gaps.values()]
                out["gap"] += [gap for gap in gaps if gap <= 1e3 * TOUCH]
                out["deepest"].append(min(gaps))
                out["touching"].append(len(closed.touching))
    return out


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grasps", type=int, default=10, help="of each thing that are closed")
    parser.add_argument("--quick", action="store_true", help="three things, three grasps each")
    given = parser.parse_args()
    things, count = (THINGS[:3], 3) if given.quick else (THINGS, given.grasps)
    measured("woman", ("box",), 1)  # compiled
    print("| | hands closed | gap mm, median / most | deepest mm | fingers that touch | closing ms | grasps "
          "| proposing s, median / most |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for who in PEOPLE:
        found = measured(who, things, count)
        middle = {key: float(np.median(values)) for key, values in found.items()}
        print(
            f"| {who} | {len(found['close'])} | {middle['gap']:.2f} / {max(found['gap']):.2f} "
            f"| {min(found['deepest']):.2f} | {np.mean(found['touching']):.1f} of 5 | {middle['close']:.0f} "
            f"| {min(found['grasps']):.0f} to {max(found['grasps']):.0f} "
            f"| {middle['propose']:.2f} / {max(found['propose']):.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
