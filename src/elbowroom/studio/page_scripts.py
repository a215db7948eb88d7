"""Scripts of the page other than viser's: only scripts listed here run (`headers.py`)."""

from __future__ import annotations

from html import escape

# Milliseconds after which the page is looked at again.
_LOOKS_EVERY_MS = 1000

# viser's page breaks down and is left empty when the server has ended and another one answers in its place.
_COME_BACK = (
    "window.comesBack = window.comesBack || setInterval(() => "
    "{ if (!document.getElementById('root').childElementCount) location.reload() }, "
    f"{_LOOKS_EVERY_MS})"
)
_COPY = "navigator.clipboard.writeText(this.parentElement.nextElementSibling.innerText); this.innerText = 'copied'"
HANDLERS = (_COME_BACK, _COPY)

_NO_PICTURE = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
COMES_BACK = f'<img alt="" style="display:none" src="{_NO_PICTURE}" onload="{escape(_COME_BACK)}">'


def with_copy_button(title: str, text: str) -> str:
    """HTML of a text with a title and a copy button."""
    return (
        '<div style="padding:2px 4px"><div style="display:flex;justify-content:space-between">'
        f'<b>{escape(title)}</b><button onclick="{escape(_COPY)}" style="font-size:12px">copy</button></div>'
        '<pre style="white-space:pre-wrap;font-size:12px;background:rgba(128,128,128,.12);padding:8px">'
        f"{escape(text)}</pre></div>"
    )
