"""viser's web server with control over its responses, and without its banner."""

from __future__ import annotations

import http
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import rich

if TYPE_CHECKING:
    from websockets.http11 import Request, Response

Admit = Callable[["Request"], "Response | None"]
Dress = Callable[["Request", "Response"], None]


@contextmanager
def quiet() -> Iterator[None]:
    """viser greets and takes leave on standard output, which belongs to the command that called us."""
    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


@contextmanager
def answering(admit: Admit, dress: Dress | None = None, logger: logging.Logger | None = None) -> Iterator[None]:
    """Let a server that viser starts meanwhile ask `admit` about every request, of pages and of websockets.

    What that returns is the answer; None lets viser answer. `dress` may change the headers of any answer, and `logger`
    (by default silent) logs connection errors, which viser does not offer.
    """
    import websockets.asyncio.server as server

    plain: Any = server.serve

    def serve(*args: Any, process_request: Any, **options: Any) -> Any:
        def asked(connection: Any, request: Request) -> Response | None:
            return admit(request) or process_request(connection, request)

        def answered(connection: Any, request: Request, response: Response) -> None:
            if dress is not None:
                dress(request, response)

        extra = {"process_response": answered, "logger": logger or silent_logger(), "server_header": None}
        return plain(*args, process_request=asked, **options, **extra)

    server.serve = serve  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        server.serve = plain  # type: ignore[misc]


@contextmanager
def compressing(level: int) -> Iterator[None]:
    """Let viser compress recordings at another level than its own 12."""
    import zstandard

    plain: Any = zstandard.ZstdCompressor

    def compressor(**options: Any) -> Any:
        return plain(**options | {"level": level})

    zstandard.ZstdCompressor = compressor  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        zstandard.ZstdCompressor = plain  # type: ignore[misc]


def silent_logger() -> logging.Logger:
    """Private silent logger; viser adds filters to the one that it is given."""
    logger = logging.Logger("elbowroom.web", logging.CRITICAL + 1)
    logger.propagate = False
    return logger


def refused(sentence: str) -> Response:
    """The answer 403, with one sentence why."""
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    body = f"{sentence}\n".encode()
    headers = Headers(
        {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body)), "Connection": "close"}
    )
    return Response(http.HTTPStatus.FORBIDDEN.value, http.HTTPStatus.FORBIDDEN.phrase, headers, body)
