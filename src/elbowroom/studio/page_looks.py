"""Fields, buttons and lists: callbacks, values, clickable rows, and styles that viser has no setting for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import viser

from elbowroom.studio.studio import Studio

_TINT = "rgba(74,143,181,.18)"  # of the selected row
_HOVER = "rgba(128,128,128,.14)"


def rows(buttons: Sequence[viser.GuiButtonHandle], picked: viser.GuiButtonHandle | None = None) -> str:
    """Invisible HTML that styles buttons as rows of a list, one of them selected."""
    if not buttons:
        return ""
    all_of = _named(buttons)
    out = (
        f"div:has(> {all_of}){{padding-bottom:0!important}}"
        f"{all_of}{{background:transparent!important;color:inherit!important;height:1.75em!important;"
        f"padding:0 .6em!important;font-size:.8125em;font-weight:400;border:0}}"
        f"{all_of}:hover{{background:{_HOVER}!important}}"
        f"{all_of} .mantine-Button-inner{{justify-content:flex-start}}"
    )
    if picked is not None:
        out += f"{_named([picked])}{{background:{_TINT}!important;font-weight:600}}"
    return f"<style>{out}</style>"


def halves(left: viser.GuiButtonHandle, right: viser.GuiButtonHandle) -> str:
    """Invisible HTML that puts two buttons side by side."""
    both = _named([left, right])
    return (
        f"<style>div:has(> {both}){{display:inline-block;width:calc(50% - .8em);margin-inline:0!important;"
        f"padding-bottom:.25em!important}}div:has(> {_named([left])}){{margin-left:.6em!important;"
        f"margin-right:.4em!important}}{both}{{height:1.75em!important;padding:0 .5em!important;font-size:.75em;"
        f"font-weight:500;border:0}}{both} .mantine-Button-label{{display:block;height:auto;text-box:normal!important;"
        f"line-height:1.5;overflow:hidden;text-overflow:ellipsis}}{both}:not([data-disabled]){{background:{_HOVER}!important;"
        f"color:inherit!important}}{both}[data-disabled]{{background:transparent!important;opacity:.8}}</style>"
    )


def pinned(top: str, buttons: Sequence[viser.GuiButtonHandle]) -> str:
    """Invisible HTML that pins the element with the id `top` and small buttons at its right to the top of the panel.

    The container of the panel's column clips its overflow, and would otherwise scroll in place of the panel.
    """
    all_of = _named(buttons)
    return (
        f"<style>div:has(> div > div > div > #{top}){{overflow:clip!important}}"
        f"div:has(> #{top}){{position:sticky;top:0;z-index:20;background:var(--mantine-color-body)}}"
        f"div:has(> {all_of}){{position:sticky;top:0;z-index:21;height:0;padding:0!important;text-align:right}}"
        f"{all_of}{{display:inline-block!important;width:auto!important;height:2em!important;margin-top:.5em;"
        f"padding:0 .8em!important;font-size:.75em}}</style>"
    )


def _named(buttons: Sequence[viser.GuiButtonHandle]) -> str:
    """CSS selector of buttons by the names that viser's page gives them."""
    return ":is(" + ",".join(f'[id="{button._impl.uuid}"]' for button in buttons) + ")"


def asked(studio: Studio, act: Callable[[], Any]) -> Callable[[Any], None]:
    """Callback for a user action; changes made by the page itself are ignored."""

    def called(event: Any) -> None:
        if event.client is not None:
            studio.trying(act)

    return called


# Values of fields, by their names, that a user has set and that nothing has been done about yet.
_unheeded: dict[str, Any] = {}


def heed(field: Any, studio: Studio, act: Callable[[], Any]) -> None:
    """Act on a user's change of a field, which nothing that the studio shows there meanwhile undoes."""
    name = field._impl.uuid

    async def note(event: Any) -> None:  # viser awaits it at once, before anything else can set the field
        if event.client is not None:
            _unheeded[name] = field.value

    def done() -> None:
        if name in _unheeded:
            wanted = _unheeded.pop(name)
            if field.value != wanted:
                field.value = wanted
        act()

    field.on_update(note)
    field.on_update(asked(studio, done))


def put(field: Any, value: Any) -> None:
    """Show a value in a field, unless the user has just set another."""
    if field.value != value and field._impl.uuid not in _unheeded:
        field.value = value


def offer(field: Any, options: tuple[str, ...]) -> None:
    """Set a field's choices; the current choice stays if it is still available."""
    if tuple(field.options) != options:
        before = field.value
        field.options = options
        if before in options:
            put(field, before)


_MORE = "\0more"  # key of the row that stands for hidden ones


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
