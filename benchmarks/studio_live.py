"""How quickly the motion follows a drag: events at 30 a second go to the real server, new poses come back.

    python benchmarks/studio_live.py [--scene umbrella] [--thing post] [--seconds 5]

A client without a browser takes the handle of a thing and leads it back and forth by 20 cm. For each motion that was
made the time counts from when the event was sent that it answers to when its pose arrived; events that were overtaken
by later ones are told apart. After the thing is let go it is timed until the motion is certified.
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

from elbowroom.studio.serve import opened
from studio_client import Client

RATE = 30.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scene", default="umbrella")
    parser.add_argument("--thing", default="post")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--reach", type=float, default=0.2, help="metres to each side")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measured(told.scene, told.thing, told.seconds, told.reach, Path(folder)), indent=2))


def measured(scene: str, thing: str, seconds: float, reach: float, folder: Path) -> dict[str, object]:
    """Figures of one drag, milliseconds."""
    page = opened(scene, port=0, folder=folder, state=folder)
    studio = page.studio
    try:
        while studio.worker.busy:
            time.sleep(0.05)
        assert studio.certified, studio.said
        if studio.plan is not None and studio.plan.plans:
            studio.player.seek(float(np.mean(studio.plan.plans[0].during)))
        studio.select(thing)
        home = studio.places[thing].T[:3, 3].tolist()
        answered: list[tuple[float, float]] = []  # the event's way along y, and when its motion was on its way

        def told(topic: str) -> None:
            if topic == "motion" and studio.live and studio.drags.followed is not None:
                answered.append((float(studio.drags.followed[1, 3]), time.perf_counter()))

        studio.listen(told)  # called after the page has been told
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        driver = context.Process(target=drive, args=(page.server.get_port(), home, seconds, reach, theirs))
        driver.start()
        sent, released = ours.recv()
        while not (studio.certified and studio.drags.current is None and studio.session.unsaved):
            assert time.perf_counter() - released < 60.0, studio.said
            time.sleep(0.001)
        certified = time.perf_counter() - released
        arrivals = np.array(ours.recv())
        driver.join()
        latencies = []
        for y, handed in answered:
            k = int(np.argmin([abs(y - event[0]) for event in sent]))
            # a motion that leaves the pose of this moment as it is sends none
            near = arrivals[(arrivals >= handed - 0.005) & (arrivals < handed + 0.03)]
            latencies.append(1000.0 * ((near[0] if len(near) else handed) - sent[k][1]))
        return {
            "scene": scene,
            "thing": thing,
            "events": len(sent),
            "motions": len(latencies),
            "event_to_motion_ms": quantiles(latencies),
            "certified_after_release_ms": round(1000.0 * certified, 1),
            "status": studio.plan.status if studio.plan else None,
            "plans": len(studio.plan.plans) if studio.plan else 0,
        }
    finally:
        page.close()


def drive(port: int, home: list[float], seconds: float, reach: float, pipe: Any) -> None:
    """Lead a handle back and forth along y, in a process of its own, as a browser would."""
    client = Client(port)
    time.sleep(1.0)
    client.drag("Start")
    sent = []
    begin = time.perf_counter()
    for k in range(int(seconds * RATE)):
        y = home[1] + reach * float(np.sin(2.0 * np.pi * k / RATE / seconds)) + 1e-6 * k
        while time.perf_counter() < begin + k / RATE:
            time.sleep(0.0005)
        sent.append((y, time.perf_counter()))
        client.drag("Update", (home[0], y, home[2]))
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
