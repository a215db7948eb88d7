"""How quickly hands and people follow a drag of what tasks are about: events at 30 a second go to the real server.

    python benchmarks/studio_reach.py [--only jar:jar switch:button ...] [--seconds 5]

A client without a browser takes the handle of a thing, a fixture, a person or a target and leads it back and forth.
For each event the time counts from when it was sent to when the pose of the first motion had arrived at the client that
was made for it or, where it was overtaken, for a later one (`studio_answers.py`). It is counted how often the hand got
there. Then the thing is let go and the plan cancelled, which has to leave the last motion, and undone, which has to
leave the first.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import tempfile
import time
from pathlib import Path

from elbowroom.geometry.rotations import from_matrix
from elbowroom.studio.page import Page, opened
from studio_answers import Answers, drive, quantiles, way_of

# Scene, thing, and how far to each side along y, metres.
DRAGS = (
    ("jar", "jar", 0.1),
    ("jar", "target of task 2", 0.1),
    ("jar", "ann", 0.1),
    ("switch", "button", 0.1),
    ("drawer", "drawer", 0.1),
    ("handover", "bottle", 0.1),
    ("umbrella", "ann", 0.2),
    ("cheese-and-hat", "cheese", 0.1),
    ("cheese-and-hat", "ann", 0.1),
    ("clown-box", "box", 0.1),
    ("clown-box", "target of task 1", 0.1),
    ("jar", "jar", 1.0),  # out of reach for half of the time
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="scene:thing, such as jar:jar")
    parser.add_argument("--seconds", type=float, default=5.0)
    told = parser.parse_args()
    drags = [d for d in DRAGS if not told.only or f"{d[0]}:{d[1]}" in told.only]
    for scene in dict.fromkeys(d[0] for d in drags):
        with tempfile.TemporaryDirectory() as folder:
            page = opened(scene, port=0, folder=Path(folder), state=Path(folder))
            try:
                wait(page)
                for _, thing, reach in (d for d in drags if d[0] == scene):
                    print(json.dumps(measured(page, thing, told.seconds, reach)), flush=True)
            finally:
                page.close()


def wait(page: Page) -> None:
    """Wait until nothing is left to do."""
    while page.studio.worker.busy:
        time.sleep(0.02)


def measured(page: Page, thing: str, seconds: float, reach: float) -> dict[str, object]:
    """Figures of one drag, milliseconds."""
    studio = page.studio
    assert studio.certified, studio.said
    first = studio.plan
    studio.select(thing)
    answers = Answers(page)
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    T = studio.places[thing].T
    way = way_of(T[:3, 3].tolist(), seconds, reach, None)
    asked = (page.url, answers.nodes, way, from_matrix(T[:3, :3]).tolist(), theirs)
    driver = context.Process(target=drive, args=asked, daemon=True)  # it ends with us, whatever happens
    driver.start()
    sent, released = ours.recv()
    while studio.drags.current is not None:
        assert time.perf_counter() - released < 60.0, studio.said
        time.sleep(0.001)
    kept = studio.world
    studio.cancel()
    wait(page)
    left = studio.world is kept and studio.live
    assert left or studio.certified, "a cancelled plan leaves what was shown, and one that was done by then is proven"
    ours.send("what was heard?")
    latencies = answers.latencies(sent, ours.recv())
    answers.close()
    driver.join()
    studio.undo()
    wait(page)
    assert studio.plan is first and studio.certified, "undone, the first motion is there again"
    return {
        "scene": page.studio.document.name,
        "thing": thing,
        "reach_m": reach,
        "events": len(sent),
        "events_answered": len(latencies),
        "motions": len(answers.made),
        "motions_that_move_somebody_at_the_time_shown": sum(answer.moves for answer in answers.made),
        "event_to_pose_at_the_client_ms": quantiles(latencies),
        "hand_there": sum(not answer.short for answer in answers.made),
        "load_average": round(os.getloadavg()[0], 1),
    }


if __name__ == "__main__":
    main()
