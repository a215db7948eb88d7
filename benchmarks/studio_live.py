"""How quickly the motion follows a drag: events at 30 a second go to the real server, new poses come back.

    python benchmarks/studio_live.py [--scene umbrella] [--thing post] [--seconds 5]
    python benchmarks/studio_live.py --scene cheese-and-hat --thing loaf --to 0.72 1.08 0.7587 --seconds 20 [--there]

A client without a browser takes the handle of a thing and leads it back and forth by 20 cm, or to a place and back, or
lets it go there. It is counted how many motions have plans that were done anew, and asserted that all others are the
same bit by bit. For each event the time counts from when it was sent to when the pose of the first motion arrived that
was made for it or, where it was overtaken, for a later one. After the thing is let go it is timed until the motion is
certified.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from elbowroom.motion.clip import Clip
from elbowroom.studio.serve import opened
from elbowroom.tasks.plan import Plan
from studio_client import Client

RATE = 30.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scene", default="umbrella")
    parser.add_argument("--thing", default="post")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--reach", type=float, default=0.2, help="metres to each side, along y")
    parser.add_argument("--to", type=float, nargs=3, metavar=("X", "Y", "Z"), help="a place to go to, and back")
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
        assert before is not None and before.plans
        studio.player.seek(float(np.mean(before.plans[0].during)))
        studio.select(thing)
        home = studio.places[thing].T[:3, 3].tolist()
        answered: list[tuple[float, float]] = []  # the event's way along y, and when its motion was on its way
        motions: list[Plan] = []

        def shown(topic: str) -> None:
            if topic == "motion" and studio.live and studio.drags.followed is not None:
                answered.append((float(studio.drags.followed[1, 3]), time.perf_counter()))
                assert studio.plan is not None
                motions.append(studio.plan)

        studio.listen(shown)  # called after the page has been told
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        way = way_of(home, told.seconds, told.reach, told.to, told.there)
        driver = context.Process(target=drive, args=(page.server.get_port(), way, theirs))
        driver.start()
        sent, released = ours.recv()
        while not (studio.certified and studio.drags.current is None and studio.session.unsaved):
            assert time.perf_counter() - released < 60.0, studio.said
            time.sleep(0.001)
        certified = time.perf_counter() - released
        arrivals = np.array(ours.recv())
        driver.join()
        made = []  # the number of the event that a motion was made for, and when its pose arrived
        for y, handed in answered:
            # a motion that leaves the pose of this moment as it is sends none
            near = arrivals[(arrivals >= handed - 0.005) & (arrivals < handed + 0.03)]
            made.append((int(np.argmin([abs(y - event[0]) for event in sent])), near[0] if len(near) else handed))
        latencies = [
            1000.0 * (min(when for k, when in made if k >= number) - at)
            for number, (_, at) in enumerate(sent)
            if number <= made[-1][0]
        ]
        return {
            "scene": scene,
            "thing": thing,
            "events": len(sent),
            "events_answered": len(latencies),
            "motions": len(made),
            "motions_in_the_way": sum(not motion.found for motion in motions),
            "event_to_motion_ms": quantiles(latencies),
            "certified_after_release_ms": round(1000.0 * certified, 1),
            "status": studio.plan.status if studio.plan else None,
            "plans": len(before.plans),
            **redone(before, motions),
        }
    finally:
        page.close()


def way_of(
    home: list[float], seconds: float, reach: float, to: list[float] | None, there: bool = False
) -> list[list[float]]:
    """Where the thing is at each event; no two have the same y."""
    s = np.arange(int(seconds * RATE)) / RATE / seconds
    if to is None:
        way = np.array(home) + reach * np.sin(2.0 * np.pi * s)[:, None] * [0.0, 1.0, 0.0]
    else:
        way = np.array(home) + np.sin((0.5 if there else 1.0) * np.pi * s)[:, None] * (np.array(to) - home)
    way[:, 1] += 1e-6 * np.arange(len(way))
    return way.tolist()


def redone(before: Plan, motions: list[Plan]) -> dict[str, object]:
    """In how many motions plans were done anew, and how many plans stayed in all of them; these are asserted to be the
    same bit by bit."""
    anew, touched = 0, set[int]()
    for motion in motions:
        new = [p for p in motion.plans if not any(p is old for old in before.plans)]
        gone = [p for p in before.plans if not any(p is kept for kept in motion.plans)]
        anew += bool(new or gone)
        spans = [p.during for p in (*new, *gone)]
        for k, old in enumerate(before.plans):
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
        "plans_touched": [before.plans[k].what for k in sorted(touched)],
        "plans_same_bit_by_bit": len(before.plans) - len(touched),
    }


def drive(port: int, way: list[list[float]], pipe: Any) -> None:
    """Lead a handle along a way, in a process of its own, as a browser would."""
    client = Client(port)
    time.sleep(1.0)
    client.drag("Start")
    sent = []
    begin = time.perf_counter()
    for k, place in enumerate(way):
        while time.perf_counter() < begin + k / RATE:
            time.sleep(0.0005)
        sent.append((place[1], time.perf_counter()))
        client.drag("Update", place)
    time.sleep(1.0 / RATE)
    released = time.perf_counter()
    client.drag("End")
    pipe.send((sent, released))
    time.sleep(2.0)
    pipe.send(client.poses)
    client.close()


def quantiles(values: list[float]) -> dict[str, float]:
    if not values:
        return {}
    return {name: round(float(np.percentile(values, q)), 1) for name, q in (("median", 50), ("p95", 95), ("max", 100))}


if __name__ == "__main__":
    main()
