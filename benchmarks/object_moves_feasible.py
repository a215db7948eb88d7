"""Whether moves that `object_moves.py` refuses can be done: whole bodies optimised by SciPy from many starts.

    python benchmarks/object_moves_feasible.py --who clown --pairs 60 17 [--starts 40]

For each place of a pair the joints of the whole body are optimised from random postures: hands at the grips that the
planner looks at, feet where they stand, joints in range, the centre of mass with the load over the feet. It has its own
solver and none of the planner's postures; ranges, masses and collisions are those of the package. A place can be had
if one of the postures is free. That none is found is evidence, not proof. Two places that can be had may still have no
path between them.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np
from scipy.optimize import least_squares

from elbowroom.character.body import Character
from elbowroom.character.masses import center_of_mass
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array, exp, log, multiply
from elbowroom.geometry.rotations import from_matrix as quaternion
from elbowroom.geometry.transforms import inverse
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Move
from elbowroom.plan.verbs.carrier import Carrier
from elbowroom.plan.verbs.holding import Grips
from object_moves import body_of, places, scene

# Joints that are optimised; weights of metres, radians, metres off balance, and of random postures to be drawn to.
PARTS = ("spine1", "spine2", "chest") + tuple(
    f"{side}_{part}"
    for side in ("left", "right")
    for part in ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot")
)
WEIGHTS = (10.0, 3.0, 10.0)
DRAWN = 0.01
# A posture has hands and feet in place within these, metres and radians, as the acceptance asks of grips.
WITHIN = (0.001, np.radians(0.5))
GRIPS = 4
STEP = 1e-5


class Problem:
    """A place of the object for one way to hold it."""

    def __init__(self, carrier: Carrier, grips: Grips, T_object: Array) -> None:
        self.carrier, self.body, self.T_object, self.grips = carrier, carrier.body.character, T_object, grips
        self.joints = [self.body.roles[part] for part in PARTS]
        targets = {**grips.targets(carrier.actor, T_object), **carrier.T_feet}
        self.ends = [self.body.role(end) for end in targets]
        self.T_ends = np.stack(list(targets.values()))
        self.load = (T_object @ np.append(carrier.center, 1.0))[:3]

    def poses(self, x: Array) -> tuple[Array, Array]:
        """Roots (N, 3) and rotations (N, J, 4) of variables (N, 6 + 3 n); joints stay in their ranges."""
        pose = self.carrier.actor.pose
        q = np.repeat(pose.rotations[None], len(x), axis=0)
        q[:, 0] = multiply(exp(x[:, 3:6]), q[:, 0])
        for k, joint in enumerate(self.joints):
            limit = self.body.limits[joint]
            if limit is not None:
                q[:, joint] = limit.rotation(limit.clamp_coordinates(x[:, 6 + 3 * k : 9 + 3 * k]))
        return pose.root + x[:, :3], q

    def gaps(self, T: Array) -> tuple[Array, Array]:
        """Metres (N, E, 3) and rotation vectors (N, E, 3) from hands and feet to their targets."""
        off = inverse(self.T_ends) @ T[:, self.ends]
        return off[..., :3, 3], log(quaternion(off[..., :3, :3]))

    def off_balance(self, T: Array) -> Array:
        """Metres (N,) that the centre of mass with the load is outside of the support; negative inside."""
        masses, held = self.body.masses, self.carrier.mass
        assert masses is not None
        own = np.stack([center_of_mass(self.body, row) for row in T])
        com = (masses.total * own + held * self.load) / (masses.total + held)
        corners = self.carrier.support
        edge = np.roll(corners, -1, axis=0) - corners
        way = com[:, None, :2] - corners
        inside = (edge[:, 0] * way[..., 1] - edge[:, 1] * way[..., 0]) / np.linalg.norm(edge, axis=1)
        return -inside.min(axis=1)

    def residuals(self, x: Array, drawn: Array) -> Array:
        """Residuals (N, R) of variables (N, V)."""
        T = self.body.transforms(*self.poses(x))
        metres, turns = self.gaps(T)
        balance = np.maximum(self.off_balance(T) + 0.005, 0.0)[:, None]
        parts = [WEIGHTS[0] * metres.reshape(len(x), -1), WEIGHTS[1] * turns.reshape(len(x), -1), WEIGHTS[2] * balance]
        return np.concatenate([*parts, DRAWN * (x - drawn)], axis=1)

    def solved(self, rng: np.random.Generator, rounds: int = 40) -> Pose | None:
        """A posture from a random start, None where the optimisation ends without one."""
        count = 6 + 3 * len(self.joints)
        drawn = np.concatenate([rng.normal(0.0, 0.12, 3), rng.normal(0.0, 0.25, 3), np.zeros(count - 6)])
        for k, joint in enumerate(self.joints):
            limit = self.body.limits[joint]
            if limit is not None:
                own = limit.coordinates(self.carrier.actor.pose.rotations[joint])
                other = limit.coordinates(limit.sample(rng, 1)[0])
                drawn[6 + 3 * k : 9 + 3 * k] = own + 0.5 * (other - own)

        def slopes(x: Array) -> Array:
            rows = self.residuals(x + STEP * np.concatenate([np.zeros((1, count)), np.eye(count)]), drawn)
            return (rows[1:] - rows[0]).T / STEP

        found = least_squares(lambda x: self.residuals(x[None], drawn)[0], drawn, slopes, max_nfev=rounds).x
        # what it was drawn to no longer counts
        found = least_squares(lambda x: self.residuals(x[None], found)[0], found, slopes, max_nfev=rounds).x
        root, q = self.poses(found[None])
        T = self.body.transforms(root, q)
        metres, turns = (np.linalg.norm(gap, axis=-1).max() for gap in self.gaps(T))
        if metres > WITHIN[0] or turns > WITHIN[1] or self.off_balance(T)[0] > 0.0:
            return None
        return Pose.of(root[0], q[0])


def feasible(who: str, start: int, goal: int, starts: int) -> None:
    """Print for both places of a pair how many of the optimised postures are in place, and how many of them free."""
    body = body_of(who)
    assert isinstance(body, Character)
    director = Director(scene(who, start, goal), Settings(probes=0), 30.0, 0)
    carrier = Carrier(director, director.actor("ann"), Move(who="ann", object="box", to=places(body)[goal]), "move box")
    ranked = carrier.ranked(["left", "right"])[:GRIPS]
    for place, T in (("start", carrier.T_start), ("goal", carrier.T_goal)):
        rng = np.random.default_rng(0)
        met: Counter[str] = Counter()
        reached = free = 0
        for k in range(starts):
            grips = ranked[k % len(ranked)]
            pose = Problem(carrier, grips, T).solved(rng)
            if pose is None:
                continue
            reached += 1
            pair = carrier.postures(grips).blame(pose, {"box": T})
            free += pair is None
            if pair is not None:
                met[" / ".join(pair)] += 1
        print(f"{who} {start} -> {goal}, {place}: {reached} of {starts} in place, {free} of them free", flush=True)
        print(f"    in the way: {dict(met.most_common(3))}", flush=True)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--who", default="woman")
    parser.add_argument("--pairs", nargs="+", required=True, help="start and goal, such as 60")
    parser.add_argument("--starts", type=int, default=40)
    asked = parser.parse_args()
    for pair in asked.pairs:
        feasible(asked.who, int(pair[0]), int(pair[1]), asked.starts)


if __name__ == "__main__":
    main()
