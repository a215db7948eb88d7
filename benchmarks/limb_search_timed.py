"""An arm of someone who walks past a post: how long until it keeps clear of it, time searched along with posture.

A post of 5 cm stands where the swinging hand would pass, at several places beside the way. From 0.4 s before the first
contact to 0.4 s after the last the arm is planned anew. Times are those of the processor.

    python benchmarks/limb_search_timed.py [--seeds 10]
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from elbowroom.character.human import human
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk
from elbowroom.search.shortcut import smooth
from elbowroom.spaces.limb import LimbSearchSpace, plan_limb
from elbowroom.world.fast import FREE, LimbCheck
from elbowroom.world.world import World
from limb_proof import prove

SECONDS, BEFORE = 4.0, 0.4


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    person = human(skin=False)
    clip = walk(person, 1.3, seconds=SECONDS)
    joints = list(person.chain("right_arm").joints)
    hand = World().with_character("ann", clip).at(0.5 * SECONDS).joints["ann"][joints[-1], :3, 3]
    rows, build, proven = [], [], 0
    for aside in np.linspace(-0.06, 0.10, 9):
        post = box((0.05, 0.05, 1.2), (hand[0] + aside, hand[1], 0.6))
        world = World(static={"post": post}, floor=0.0).with_character("ann", clip)
        t0 = time.process_time()
        check = LimbCheck(world, "ann", "right_arm", during=(0.0, SECONDS), margin=0.005)
        build.append(1e3 * (time.process_time() - t0))
        times = np.arange(len(clip)) / clip.fps
        met = np.flatnonzero(check.batch(clip.rotations[:, joints], times) != FREE)
        if not len(met):
            continue
        space = LimbSearchSpace.over(check, timed=True)
        wide = round(BEFORE * clip.fps)
        a, b = (space.state(clip.rotations[k, joints], times[k]) for k in (met[0] - wide, met[-1] + wide))
        for seed in range(given.seeds):
            t = [time.process_time()]
            path = plan_limb(space, a, b, seed)
            t.append(time.process_time())
            path = smooth(space, path, seed)
            t.append(time.process_time())
            proven += path.found and prove(space, path).free
            t.append(time.process_time())
            rows.append(1e3 * (np.array(t[1:]) - t[0]))
    print(f"{len(rows)} problems, {proven} solved and proven")
    print(f"a check over {SECONDS:g} s is built in {np.median(build):.0f} ms")
    for name, ms in zip(("first path", "smooth", "smooth and proven"), np.array(rows[1:]).T, strict=True):
        print(f"{name}: median {np.median(ms):.2f} ms, p95 {np.percentile(ms, 95):.2f} ms")


if __name__ == "__main__":
    main()
