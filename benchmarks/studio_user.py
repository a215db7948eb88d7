"""Somebody who does anything at all on the studio's page, by the messages that the page sends."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from studio_client import Client

Facts = dict[str, Any]
Act = Callable[["User", Facts], bool]

ACTS: dict[str, Act] = {}
_WEIGHTS: dict[str, float] = {}


def act(weight: float) -> Callable[[Act], Act]:
    """Something that is done so often; it says whether it could be done."""

    def noted(done: Act) -> Act:
        ACTS[done.__name__], _WEIGHTS[done.__name__] = done, weight
        return done

    return noted


class User:
    """A page, dice, and what was done last in words."""

    def __init__(self, client: Client, seed: int, url: str) -> None:
        self.dice = np.random.default_rng(seed)
        self.told = ""
        self.sit_down(client, url)

    def sit_down(self, client: Client, url: str) -> None:
        """Look at another page."""
        self.client, self.url = client, url

    def pick(self) -> str:
        """What to do next."""
        weights = np.array(list(_WEIGHTS.values()))
        return str(self.dice.choice(list(_WEIGHTS), p=weights / weights.sum()))

    def one(self, things: Any) -> Any:
        """One of some things."""
        things = list(things)
        self.told = str(things[int(self.dice.integers(len(things)))])
        return next(x for x in things if str(x) == self.told)

    def choose(self, label: str, within: Any = None) -> bool:
        """Choose anything from a list."""
        found = self.client.find(label, "Dropdown", within)
        if found is None or not found.options:
            return False
        return self.client.put(label, self.one(found.options), "Dropdown", within)

    def chance(self, share: float) -> bool:
        """Whether it happens, so often."""
        return bool(self.dice.random() < share)

    def reconnect(self) -> None:
        """Load the page again."""
        self.client.close()
        self.client = Client(self.url)
        end = time.monotonic() + 20.0
        while self.client.find("Name", within="Storyboard") is None:
            assert time.monotonic() < end, "the page stays empty"
            time.sleep(0.01)
