"""List with clickable rows, in the panel."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import viser

from elbowroom.studio.page_looks import asked, rows
from elbowroom.studio.studio import Studio

_MORE = "\0more"  # key of the row that stands for those that are not shown


class Rows:
    """Rows of a folder. `picked` is called with the key of a clicked row.

    Of more than `most` rows that many are shown, and the selected one, until the user expands the list.
    """

    def __init__(
        self,
        gui: viser.GuiApi,
        studio: Studio,
        folder: viser.GuiFolderHandle,
        picked: Callable[[str], None],
        most: int = 100,
    ) -> None:
        self._gui, self._studio, self._folder, self._picked = gui, studio, folder, picked
        self._most, self._last = most, (dict[str, str](), "")
        self._buttons: list[viser.GuiButtonHandle] = []
        self._keys: list[str] = []
        with folder:
            self._looks = gui.add_html("")

    def show(self, words: Mapping[str, str], now: str | None) -> None:
        """Show rows, their texts by key; the one with the key `now` is selected."""
        self._last = dict(words), now or ""
        words = few(words, now, self._most)
        while len(self._buttons) < len(words):
            self._add()
        self._keys = list(words)
        for k, button in enumerate(self._buttons):
            if k < len(words) and button.label != words[self._keys[k]]:
                button.label = words[self._keys[k]]
            if button.visible != (k < len(words)):
                button.visible = k < len(words)
        picked = self._buttons[self._keys.index(now)] if now in self._keys else None
        looks = rows(self._buttons[: len(words)], picked)
        if self._looks.content != looks:
            self._looks.content = looks
        if self._folder.visible != bool(words):
            self._folder.visible = bool(words)

    def _add(self) -> None:
        k = len(self._buttons)
        with self._folder:
            button = self._gui.add_button("", color="gray")
        button.on_click(asked(self._studio, lambda: self._clicked(k)))
        self._buttons.append(button)

    def _clicked(self, k: int) -> None:
        if k < len(self._keys) and self._keys[k] == _MORE:
            words, now = self._last
            self._most = len(words)
            self.show(words, now)
        elif k < len(self._keys):
            self._picked(self._keys[k])


def few(words: Mapping[str, str], now: str | None, most: int) -> dict[str, str]:
    """First rows of too many, the selected one, and a row with the number of hidden ones."""
    if len(words) <= most:
        return dict(words)
    some = {key: text for k, (key, text) in enumerate(words.items()) if k < most or key == now}
    left = len(words) - len(some)
    return {**some, _MORE: f"… {left} more"} if left else some
