"""Another variant: other seeds until the motion is visibly different."""

from __future__ import annotations

from elbowroom.plan.result import Plan
from elbowroom.plan.settings import Tier
from elbowroom.plan.variants import ALIKE_M, difference
from elbowroom.search.birrt import keeping_trees
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.studio.studio import Studio
from elbowroom.studio.worker import Job

# Seeds that are tried.
_TRIES = 8

Found = tuple[int, Tier, Plan] | None


def another_variant(studio: Studio) -> Job:
    """Search for a visibly different motion; it becomes an edit of the seed."""
    document, board, before = studio.document, studio.board, studio.plan

    @keeping_trees()
    def work(job: Job) -> Found:
        tier = document.tier
        for k in range(_TRIES):
            seed = document.seed + 1 + k
            job.tell(k / _TRIES, f"seed {seed}")
            plan = plan_storyboard(board, seed=seed, tier=tier)
            if plan.found and (before is None or difference(plan.world, before.world) > ALIKE_M):
                return seed, tier, plan
            # straight paths are the same for all seeds
            tier = "plan" if tier == "auto" else tier
        return None

    def done(found: Found) -> None:
        with studio.lock:
            if studio.board is not board:
                return
            if found is None:
                studio.say(f"No visibly different motion was found with {_TRIES} other seeds.")
                return
            seed, tier, plan = found
            studio.session.do(f"another variant, seed {seed}", document.with_(seed=seed, tier=tier))
            studio.set_plan(plan)
        studio.tell("document")

    studio.worker.cancel()
    return studio.run(Job("searching for another variant", work, done))
