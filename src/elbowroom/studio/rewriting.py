"""Saving of edited YAML: only changed parts are rewritten; comments and layout stay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from elbowroom.errors import BadFile
from elbowroom.storyboard.yaml_lines import parse_yaml

_WIDTH = 118

# A range of the text, and its replacement.
_Replacement = tuple[int, int, str]


class _Otherwise(Exception):
    """Signal that a part's text cannot be changed piece by piece."""


def dumped(values: Any, *, flow: bool = False) -> str:
    """YAML of values, without comments; with `flow` in one line."""
    if flow:
        return yaml.safe_dump(values, sort_keys=False, default_flow_style=True, width=10**6, allow_unicode=True).strip()
    return yaml.safe_dump(values, sort_keys=False, default_flow_style=None, width=_WIDTH, allow_unicode=True)


def rewritten(source: str, values: Mapping[str, Any]) -> str | None:
    """YAML text with new values and everything else preserved; None if that is impossible.

    The result is parsed again and compared with the values.
    """
    try:
        before = parse_yaml(Path("storyboard"), source).values
        node = yaml.compose(source, Loader=yaml.SafeLoader)
        changes = sorted(_changes(source, node, before, values))
        text, end = "", 0
        for begin, upto, instead in changes:
            if begin < end:
                return None
            text, end = text + source[end:begin] + instead, upto
        text += source[end:]
        return text if parse_yaml(Path("storyboard"), text).values == values else None
    except (BadFile, yaml.YAMLError, _Otherwise):
        return None


def _changes(source: str, node: Any, before: Any, after: Any) -> Iterator[_Replacement]:
    """Text changes that give a node new values."""
    if before == after and type(before) is type(after):
        return
    try:
        if isinstance(before, dict) and isinstance(after, dict):
            yield from list(_of_mapping(source, node, before, after))
            return
        if isinstance(before, list) and isinstance(after, list):
            yield from list(_of_sequence(source, node, before, after))
            return
    except _Otherwise:
        pass
    yield _instead(source, node, after)


def _of_mapping(source: str, node: Any, before: dict[str, Any], after: dict[str, Any]) -> Iterator[_Replacement]:
    if _renamed(before, after):
        for (key_node, value_node), old, new in zip(node.value, before, after, strict=True):
            if old != new:
                yield _instead(source, key_node, new)
            yield from _changes(source, value_node, before[old], after[new])
        return
    kept = [key for key in after if key in before]
    if kept != [key for key in before if key in after] or not kept or list(after)[: len(kept)] != kept:
        raise _Otherwise
    for key_node, value_node in node.value:
        key = key_node.value
        if key in after:
            yield from _changes(source, value_node, before[key], after[key])
        else:
            yield _without(source, node, key_node, value_node)
    added = {key: after[key] for key in after if key not in before}
    if added:
        yield _appended(source, node, added)


def _renamed(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Return whether some keys were renamed with all positions unchanged."""
    if len(before) != len(after):
        return False
    pairs = list(zip(before, after, strict=True))
    return all(old == new or (new not in before and before[old] == after[new]) for old, new in pairs)


def _of_sequence(source: str, node: Any, before: list[Any], after: list[Any]) -> Iterator[_Replacement]:
    """Text changes of a sequence: equal items at both ends stay; those between are changed, added or removed."""
    items = node.value
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if len(old) == len(new):
        for k, (b, a) in enumerate(zip(old, new, strict=True)):
            yield from _changes(source, items[head + k], b, a)
    elif not new and len(old) < len(before):
        for item in items[head : len(before) - tail]:
            yield _without(source, node, item, item)
    elif not old and not tail and before:
        yield _appended(source, node, new)
    else:
        raise _Otherwise


def _without(source: str, parent: Any, first: Any, last: Any) -> _Replacement:
    """Text change that removes the lines of an entry."""
    begin = source.rfind("\n", 0, first.start_mark.index) + 1
    lead = source[begin : first.start_mark.index]
    # the entry has its own lines: nothing before it but, in lists, its own dash
    if (
        parent.flow_style
        or lead.strip() not in ("", "-")
        or (lead.strip() == "-") != isinstance(parent, yaml.SequenceNode)
    ):
        raise _Otherwise
    return begin, _end_of_line(source, _end(last)), ""


def _appended(source: str, parent: Any, new: dict[str, Any] | list[Any]) -> _Replacement:
    """Text change that appends entries."""
    last = parent.value[-1][1] if isinstance(parent, yaml.MappingNode) else parent.value[-1]
    if parent.flow_style:
        at = _end(last)
        return at, at, ", " + dumped(new, flow=True)[1:-1]
    at = _end_of_line(source, _end(last))
    gap = "" if source[:at].endswith("\n") else "\n"
    column = parent.start_mark.column
    return at, at, gap + _indented(_entries(new, _WIDTH - column), column)


def _entries(new: dict[str, Any] | list[Any], width: int) -> str:
    """Text of a block's entries, each in one line if it fits."""
    out = ""
    for key, value in new.items() if isinstance(new, dict) else enumerate(new):
        one: Any = {key: value} if isinstance(new, dict) else [value]
        inside = dumped(one, flow=True)[1:-1]
        if isinstance(new, list):  # a task is one word with its arguments
            inside = f"- {inside[1:-1] if isinstance(value, dict) and len(value) == 1 else inside}"
        out += f"{inside}\n" if len(inside) <= width else dumped(one)
    return out


def _instead(source: str, node: Any, value: Any) -> _Replacement:
    """Text change that replaces a node's text."""
    begin, end = node.start_mark.index, _end(node)
    text = dumped([value], flow=True)[1:-1]
    if begin == end:  # it was empty
        return begin, end, " " + text
    if getattr(node, "flow_style", True) is False and node.start_mark.column and isinstance(value, (dict, list)):
        column = node.start_mark.column
        return begin, end, _indented(_entries(value, _WIDTH - column), column).strip()
    return begin, end, text


def _end(node: Any) -> int:
    """End of a node's text; the parser's end of a block is the start of the next node."""
    if getattr(node, "flow_style", True) is False and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        raise _Otherwise
    return int(node.end_mark.index)


def _end_of_line(source: str, index: int) -> int:
    found = source.find("\n", index)
    return len(source) if found < 0 else found + 1


def _indented(text: str, column: int) -> str:
    return "".join(" " * column + line for line in text.splitlines(keepends=True))
