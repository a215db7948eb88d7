"""How quickly the motion follows a drag: events at 30 a second go to the real server, new poses come back.

    python benchmarks/studio_live.py [--scene umbrella] [--thing post] [--seconds 5]
    python benchmarks/studio_live.py --scene cheese-and-hat --thing loaf --to 0.72 1.08 0.7587 --seconds 20 [--there]

A client without a browser takes the handle of a thing and leads it back and forth by 20 cm, or to a place and back, or
lets it go there. It is counted how many motions have plans that were done anew, and asserted that all others are the
same bit by bit. For each event the time counts from when it was sent to when the client had received the pose of the
first motion that was made for it or, where it was overtaken, for a later one (`studio_answers.py`). After the thing is
let go it is timed until the motion is certified.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import tempfile
import time
from pathlib import Path

import numpy as np

from elbowroom.geometry.rotations import from_matrix
from elbowroom.motion.clip import Clip
from elbowroom.plan.state.result import Plan
from elbowroom.studio.page import opened
from studio_answers import Answers, drive, quantiles, way_of

# The share of the first plan after which a limb is on its way aside: half way through it may rest there, and a motion
# that comes sooner or later leaves that pose as it is.
_ON_ITS_WAY = 0.25
# Seconds in which a motion is certified, or planned anew and certified, after the thing was let go.
_LONGEST_S = 300.0
# Moments at which it is looked where people are.
_LOOKS = 400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scene", default="umbrella")
    parser.add_argument("--thing", default="post")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--reach", type=float, default=0.2, help="metres to each side, along y")
    parser.add_argument("--to", type=float, nargs=3, metavar=("X", "Y", "Z"), help="a place to go to, and back")
    parser.add_argument("--at", type=float, help="the time that is shown, seconds")
    parser.add_argument("--there", action="store_true", help="let it go at that place")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measured(told, Path(folder)), indent=2))


def measured(told: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Figures of one drag, milliseconds."""
    scene, thing = told.scene, told.thing
    page = opened(scene, port=0, folder=folder, state=folder)
    studio = page.studio
    try:
        while studio.worker.busy:
            time.sleep(0.05)
        assert studio.certified, studio.said
        before = studio.plan
        assert before is not None and before.edits
        studio.player.seek(shown_at(before, told.to) if told.at is None else told.at)
        studio.select(thing)
        T = studio.places[thing].T
        answers = Answers(page)
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        way = way_of(T[:3, 3].tolist(), told.seconds, told.reach, told.to, told.there)
        asked = (page.url, answers.nodes, way, from_matrix(T[:3, :3]).tolist(), theirs)
        driver = context.Process(target=drive, args=asked, daemon=True)  # it ends with us, whatever happens
        driver.start()
        sent, released = ours.recv()
        while not (studio.certified and studio.drags.current is None and studio.session.unsaved):
            assert time.perf_counter() - released < _LONGEST_S, studio.said
            time.sleep(0.001)
        certified = time.perf_counter() - released
        ours.send("what was heard?")
        latencies = answers.latencies(sent, ours.recv())
        driver.join()
        motions = [answer.plan for answer in answers.made]
        return {
            "scene": scene,
            "thing": thing,
            "events": len(sent),
            "events_answered": len(latencies),
            "motions": len(motions),
            "motions_that_move_somebody_at_the_time_shown": sum(answer.moves for answer in answers.made),
            "motions_in_the_way": sum(not motion.found for motion in motions),
            "event_to_pose_at_the_client_ms": quantiles(latencies),
            "certified_after_release_ms": round(1000.0 * certified, 1),
            "status": studio.plan.status if studio.plan else None,
            "plans": len(before.edits),
            **redone(before, motions),
            "load_average": round(os.getloadavg()[0], 1),
        }
    finally:
        page.close()


def shown_at(plan: Plan, to: list[float] | None) -> float:
    """The time to look at, seconds: when somebody is nearest to where the thing is led, else a limb is on its way."""
    if to is None:
        begin, end = plan.edits[0].during
        return float(begin + _ON_ITS_WAY * (end - begin))
    times = np.linspace(*plan.world.span, _LOOKS)
    joints = np.concatenate(list(plan.world.record(times).joints.values()), axis=1)[..., :3, 3]
    return float(times[np.argmin(np.linalg.norm(joints - np.array(to), axis=-1).min(axis=1))])


def redone(before: Plan, motions: list[Plan]) -> dict[str, object]:
    """In how many motions plans were done anew, and how many plans stayed in all of them; these are asserted to be the
    same bit by bit."""
    anew, touched = 0, set[int]()
    for motion in motions:
        new = [p for p in motion.edits if not any(p is old for old in before.edits)]
        gone = [p for p in before.edits if not any(p is kept for kept in motion.edits)]
        anew += bool(new or gone)
        spans = [p.during for p in (*new, *gone)]
        for k, old in enumerate(before.edits):
            if any(a <= old.during[1] and old.during[0] <= b for a, b in spans):
                touched.add(k)
                continue
            was, now = (world.motion(old.who) for world in (before.world, motion.world))
            assert isinstance(was, Clip) and isinstance(now, Clip)
            rows = slice(*np.searchsorted(was.times, old.during))
            assert np.array_equal(was.rotations[rows], now.rotations[rows]), old
            assert np.array_equal(was.root[rows], now.root[rows]), old
    return {
        "motions_with_plans_done_anew": anew,
        "plans_touched": [before.edits[k].reason for k in sorted(touched)],
        "plans_same_bit_by_bit": len(before.edits) - len(touched),
    }


if __name__ == "__main__":
    main()
