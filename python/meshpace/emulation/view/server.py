"""The page and the engine's lines over HTTP, on loopback alone."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from meshpace.emulation.record import EmulationError
from meshpace.emulation.view.hub import Hub

_LOOPBACK = "127.0.0.1"
_MOST_WATCHING = 16
_PATIENCE_S = 10.0
"""For a request to come, and for a client to take what it is sent."""
_QUIET_S = 5.0
"""After so long without a line a comment shows whether a client is still there."""
_ENDING_S = 2.0


class View:
    """A live view that is served. The engine writes to the descriptor :attr:`sink`."""

    def __init__(self, port: int, hub: Hub) -> None:
        self.port = port
        self._hub = hub
        self._source, self.sink = os.pipe()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://{_LOOPBACK}:{self.port}/"

    def begin(self) -> None:
        """The engine has the descriptor: from now on what it writes is shown."""
        self._close_sink()
        source, self._source = self._source, -1
        threading.Thread(target=_read, args=(source, self._hub), name="view", daemon=True).start()

    def tell_routes(self, routes: Mapping[str, object]) -> None:
        """Shows these to the viewers, by where they lead."""
        self._hub.tell_routes(routes)

    def over(self, words: Sequence[str]) -> None:
        """Tells the viewers that it is over, and what came of it."""
        self._hub.over(words)

    def _close_sink(self) -> None:
        os.close(self.sink)
        self.sink = -1

    def close(self) -> None:
        """Closes what the engine did not take."""
        for descriptor in (self._source, self.sink):
            if descriptor >= 0:
                os.close(descriptor)


def _read(source: int, hub: Hub) -> None:
    with os.fdopen(source, "rb") as lines:
        for line in lines:
            hub.publish(line.rstrip(b"\n"))


@contextmanager
def serving(page: str, port: int | None) -> Iterator[View]:
    """Serves a view on that port, or on a free one, until its end; then all readers learn that it is over.

    Raises:
        EmulationError: the port cannot be had.
    """
    hub = Hub()
    try:
        server = _Server(port or 0, page.encode(), hub)
    except OSError as error:
        raise EmulationError(
            f"--view-port: found {port}: {error.strerror}; allowed: a port of {_LOOPBACK} that is free, or "
            "--view, which takes one"
        ) from None
    view = View(server.server_address[1], hub)
    print(f"view: {view.url}", file=sys.stderr, flush=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.2}, name="view", daemon=True).start()
    try:
        yield view
    finally:
        hub.over(["The emulation has ended before its time."])
        hub.wait_until_left(_ENDING_S)
        server.shutdown()
        server.server_close()
        view.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    # On Linux it lets a port be taken again that connections of a server before are still closing on, no other one.
    allow_reuse_address = True

    def __init__(self, port: int, page: bytes, hub: Hub) -> None:
        self.page, self.hub = page, hub
        super().__init__((_LOOPBACK, port), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that is gone is no error."""


class _Handler(BaseHTTPRequestHandler):
    timeout = _PATIENCE_S
    server: _Server

    def do_GET(self) -> None:
        """The page, or the lines."""
        # A page from elsewhere whose name has come to mean this machine must not read along.
        port = self.server.server_address[1]
        if self.headers.get("Host") not in {f"{_LOOPBACK}:{port}", f"localhost:{port}"}:
            self.send_error(403, f"served as {_LOOPBACK}:{port} alone")
        elif self.path == "/":
            self._head("text/html; charset=utf-8")
            self.wfile.write(self.server.page)
        elif self.path != "/events":
            self.send_error(404)
        elif not self.server.hub.enter(_MOST_WATCHING):
            self.send_error(503, f"{_MOST_WATCHING} look on already")
        else:
            try:
                with suppress(OSError):
                    self._events()
            finally:
                self.server.hub.leave()

    def _head(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()

    def _events(self) -> None:
        """Server-sent events (HTML standard, section 9.2) from the latest line on, until there are no more."""
        hub = self.server.hub
        self._head("text/event-stream")
        number, told, last = max(0, hub.count - 1), 0, None
        while last is None:
            number, lines, last = hub.after(number, _QUIET_S)
            events = [b"data: " + line + b"\n\n" for line in lines] or [b": nothing new\n\n"]
            routes = hub.routes(told)
            if routes is not None:
                told, words = routes
                events.append(b"event: routes\ndata: " + words + b"\n\n")
            if last is not None:
                events.append(b"event: over\ndata: " + last + b"\n\n")
            self.wfile.write(b"".join(events))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Nothing: standard error is the emulation's."""
