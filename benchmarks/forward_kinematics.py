"""Forward kinematics of the full person with fingers: a batch by elbowroom against Pinocchio pose by pose.

Both fill the world transforms of all joints on the same tree, in the same run, into memory that is reused:
`Skeleton.forward(..., out=)` once for the whole batch, `pinocchio.forwardKinematics` once per pose. The time
of an empty call into Pinocchio is shown beside, so that the share of Python in its figure can be seen.

    python benchmarks/forward_kinematics.py [--poses 2000] [--repeats 15] [--json]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin

from elbowroom.character.dynamics import Dynamics
from elbowroom.character.human import human
from elbowroom.geometry.rotations import normalize


def seconds_of(run: Callable[[], object]) -> float:
    """How long one run takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def measure(poses: int, repeats: int) -> dict[str, float]:
    """Microseconds per pose of both, their ratio, and how far the results are apart."""
    person = human(skin=False)
    skeleton, dynamics = person.skeleton, Dynamics(person)
    rng = np.random.default_rng(0)
    root = rng.normal(size=(poses, 3))
    rotations = normalize(rng.normal(size=(poses, len(skeleton), 4)))
    q = list(dynamics.to_q(root, rotations))
    out = np.zeros((poses, len(skeleton), 4, 4))
    model, data = dynamics.model, dynamics.data

    def ours() -> None:
        skeleton.forward(root, rotations, out=out)

    def theirs() -> None:
        for row in q:
            pin.forwardKinematics(model, data, row)

    # A model without joints: what remains is the crossing from Python.
    empty = pin.Model()
    empty_data, empty_q = empty.createData(), np.zeros(0)

    def crossing() -> None:
        for _ in q:
            pin.forwardKinematics(empty, empty_data, empty_q)

    ours()  # compiles or loads from the cache
    pin.forwardKinematics(model, data, q[-1])
    last = np.array([data.oMi[int(k)].homogeneous for k in dynamics.joint])
    # Interleaved, so that a busy machine hurts both alike.
    seconds = {"ours": np.inf, "theirs": np.inf, "crossing": np.inf}
    for _ in range(repeats):
        for name, run in (("ours", ours), ("theirs", theirs), ("crossing", crossing)):
            seconds[name] = min(seconds[name], seconds_of(run))
    return {
        "joints": len(skeleton),
        "poses": poses,
        "elbowroom_us": 1e6 * seconds["ours"] / poses,
        "pinocchio_us": 1e6 * seconds["theirs"] / poses,
        "pinocchio_call_us": 1e6 * seconds["crossing"] / poses,
        "ratio": seconds["ours"] / seconds["theirs"],
        "largest_difference": float(np.abs(last - out[-1]).max()),
    }


def main() -> None:
    """Print the table, or one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--poses", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measure(options.poses, options.repeats)
    if options.json:
        print(json.dumps(figures))
        return
    print(f"{figures['joints']:.0f} joints, {figures['poses']:.0f} poses, best of {options.repeats}")
    print(f"{'elbowroom, whole batch into out=':<44}{figures['elbowroom_us']:8.2f} µs per pose")
    print(f"{'Pinocchio, pose by pose':<44}{figures['pinocchio_us']:8.2f} µs per pose")
    print(f"{'  of which the call from Python':<44}{figures['pinocchio_call_us']:8.2f} µs per pose")
    print(f"{'elbowroom / Pinocchio':<44}{figures['ratio']:8.2f}")
    print(f"{'largest difference of a matrix entry':<44}{figures['largest_difference']:8.1e}")


if __name__ == "__main__":
    main()
