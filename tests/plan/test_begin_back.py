"""Who stands sets out when told, and is back in time or says so."""

from __future__ import annotations

import numpy as np
import pytest
from test_manipulate import room

from elbowroom.errors import BadValue
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.tasks import Touch


def test_a_hand_sets_out_when_told_and_is_back_by_then() -> None:
    plan = plan_tasks(room(), [Touch(who="ann", target="can", hand="right", begin=0.4, at=2.2, back=4.6)])
    assert plan.found, plan.advice
    assert plan.edits[0].during[0] == pytest.approx(0.4, abs=1 / 60)
    assert max(p.during[1] for p in plan.edits) <= 4.6 + 1 / 60
    new, old = plan.world.motion("ann"), room().motion("ann")
    arm = list(old.body.chain("right_arm").joints)
    assert np.allclose(new.rotations[: int(0.4 * 60), arm], old.rotations[: int(0.4 * 60), arm])
    after = slice(int(4.7 * 60), min(len(old), len(new)))
    assert np.allclose(new.rotations[after, arm], old.rotations[after, arm], atol=1e-6), "she does again what she did"


def test_times_that_cannot_be_kept_are_told() -> None:
    late = plan_tasks(room(), [Touch(who="ann", target="can", at=3.0, back=3.4)], Settings(probes=0))
    assert late.status == "too-little-time" and "too late to be back by 3.4 s" in late.why
    busy = [Touch(who="ann", target="can", at=2.0), Touch(who="ann", target="pack", begin=2.1, at=4.0)]
    assert plan_tasks(room(), busy, Settings(probes=0)).status == "too-little-time"
    with pytest.raises(BadValue, match="'at' \\(2 s\\) comes before 'back' \\(1 s\\)"):
        Touch(who="ann", target="can", at=2.0, back=1.0)
    with pytest.raises(BadValue, match="finite"):
        Touch(who="ann", target="can", at=float("nan"))
