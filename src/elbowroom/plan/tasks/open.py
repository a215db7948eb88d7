"""Open: a hand opens a fixture by its handle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from elbowroom.plan.tasks.task import FixtureTask

if TYPE_CHECKING:
    from elbowroom.plan.director import Director


@dataclass(frozen=True, kw_only=True)
class Open(FixtureTask):
    """Open a fixture by its handle."""

    verb: ClassVar = "open"
    by_hand: ClassVar = "verbs.fixtures:open_fixture"
    # Whether the fixture is shut where no state is given.
    shuts: ClassVar[bool] = False

    def carry_out(self, d: Director) -> None:
        from elbowroom.plan.walking.doors import step_and_open

        step_and_open(d, self)
