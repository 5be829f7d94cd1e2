"""Connections through a gateway, coming and going, each of which checks every byte: a program, for `make soak`.

    crowd.py SERVER-NAMESPACE MESH-NAMESPACE --connections 3000 --clients 64 --seed 1

Two thirds of them are opened from the mesh, a quarter are of IPv6. Whoever opened one says words, which the other end
says again; a few words are long, so that they are paced. What has said its words closes in good order, and another one
comes in its place. Anything else is a connection lost. Prints its counts every two seconds, a JSON object a line; when
its standard input ends nothing new comes, and it ends when all have closed.

As a program of its own: a process may have 20,000 files here, and Python's threads get in each other's way.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
import select
import socket
import sys
import time
from dataclasses import asdict, dataclass, field

from net import FAMILY, SERVER, client, inside

STUCK_S = 300.0
"""Nobody waits longer for a word: the kernels' retransmissions back off to two minutes (RFC 6298, 5.5)."""
LAST_ENDS_S = 10.0
"""So long the ends that were called may take to close behind their callers."""
MEAN_GAP_S = 40.0
SHORT, LONG = (4, 3_000), (20_000, 300_000)
LONG_SHARE = 0.01
TEXT = random.Random(10).randbytes(1 << 20)


@dataclass
class Counts:
    """What a crowd has seen so far."""

    open: int = 0
    opened: int = 0
    ended: int = 0
    lost: int = 0
    words: int = 0
    bytes: int = 0
    longest_wait_s: float = 0.0
    losses: list[str] = field(default_factory=list)


class End:
    """One end of a connection: what it has yet to send."""

    def __init__(self, made: socket.socket) -> None:
        self.socket = made
        self.unsent = memoryview(b"")
        self.interest = 0

    def flush(self) -> None:
        """Sends as much as the kernel takes."""
        while self.unsent:
            try:
                self.unsent = self.unsent[self.socket.send(self.unsent) :]
            except BlockingIOError:
                return


class Echo(End):
    """The end that was called."""

    closing = False


class Talk(End):
    """The end that called: its words, what it has yet to hear."""

    def __init__(self, made: socket.socket, words: int, gap_s: float, name: str) -> None:
        super().__init__(made)
        self.words = words
        self.gap_s = gap_s
        self.name = name
        self.connected = False
        self.expected = memoryview(b"")
        self.since = time.monotonic()
        self.closing = False


class Crowd:
    """All connections of this process."""

    def __init__(self, srv: str, cli: str, connections: int, clients: int, seed: int) -> None:
        self.names = srv, cli
        self.wanted = connections
        self.clients = clients
        self.draw = random.Random(seed)
        self.counts = Counts()
        self.poller = select.epoll()
        self.ends: dict[int, Talk | Echo] = {}
        self.doors: dict[int, socket.socket] = {}
        self.due: list[tuple[float, int, Talk]] = []
        self.ports: dict[tuple[bool, int], int] = {}
        self.talks = 0
        for from_mesh in (True, False):
            for version in (4, 6):
                self._listen(from_mesh, version)

    def _listen(self, from_mesh: bool, version: int) -> None:
        with inside(self.names[0 if from_mesh else 1]):
            door = socket.socket(FAMILY[version], socket.SOCK_STREAM)
        if version == 6:
            door.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        door.bind(("", 0))
        door.listen(4096)
        door.setblocking(False)
        self.ports[from_mesh, version] = door.getsockname()[1]
        self.doors[door.fileno()] = door
        self.poller.register(door.fileno(), select.EPOLLIN)

    def open(self) -> None:
        """One more connection."""
        from_mesh, version = self.draw.random() < 2 / 3, 6 if self.draw.random() < 1 / 4 else 4
        host = client(version, self.draw.randrange(self.clients))
        own, other = (host, SERVER[version]) if from_mesh else (SERVER[version], host)
        with inside(self.names[1 if from_mesh else 0]):
            made = socket.socket(FAMILY[version], socket.SOCK_STREAM)
        made.setblocking(False)
        made.bind((own, 0))
        brief = self.draw.random() < 0.3
        words = 1 if brief else self.draw.randrange(2, 30)
        talk = Talk(made, words, 0.2 if brief else MEAN_GAP_S, f"{own}:{made.getsockname()[1]}-{other}")
        made.connect_ex((other, self.ports[from_mesh, version]))
        self._add(talk)
        self.counts.opened += 1
        self.talks += 1

    def _add(self, end: Talk | Echo) -> None:
        number = end.socket.fileno()
        self.ends[number] = end
        self.poller.register(number, 0)
        self._watch(end)

    def _watch(self, end: Talk | Echo) -> None:
        connecting = isinstance(end, Talk) and not end.connected
        interest = select.EPOLLIN | (select.EPOLLOUT if end.unsent or connecting else 0)
        if interest != end.interest:
            end.interest = interest
            self.poller.modify(end.socket.fileno(), interest)

    def _close(self, end: Talk | Echo) -> None:
        number = end.socket.fileno()
        self.poller.unregister(number)
        del self.ends[number]
        end.socket.close()
        if isinstance(end, Talk):
            self.talks -= 1

    def _lose(self, end: Talk | Echo, why: str) -> None:
        name = end.name if isinstance(end, Talk) else "called end"
        self.counts.lost += 1
        self.counts.losses.append(f"{name}: {why}")
        self._close(end)

    def _say(self, talk: Talk) -> None:
        if talk.words == 0:
            talk.closing = True
            talk.since = time.monotonic()
            talk.socket.shutdown(socket.SHUT_WR)
            return
        talk.words -= 1
        size = self.draw.randint(*(LONG if self.draw.random() < LONG_SHARE else SHORT))
        start = self.draw.randrange(len(TEXT) - size)
        talk.unsent = talk.expected = memoryview(TEXT)[start : start + size]
        talk.since = time.monotonic()
        talk.flush()

    def _later(self, talk: Talk) -> None:
        heapq.heappush(self.due, (time.monotonic() + self.draw.expovariate(1 / talk.gap_s), id(talk), talk))

    def _called(self, door: socket.socket) -> None:
        while True:
            try:
                made, _ = door.accept()
            except BlockingIOError:
                return
            made.setblocking(False)
            self._add(Echo(made))

    def _talk(self, talk: Talk, events: int) -> None:
        if not talk.connected:
            if error := talk.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise OSError(error, "connecting")
            if not events & select.EPOLLOUT:
                return
            talk.connected = True
            self._waited(talk)
            self._say(talk)
        talk.flush()
        if events & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR):
            heard = talk.socket.recv(1 << 18)
            if not heard:
                if talk.closing and not talk.expected:
                    self._waited(talk)
                    self.counts.ended += 1
                    self._close(talk)
                    return
                raise OSError(0, "closed by the other end")
            if heard != talk.expected[: len(heard)]:
                raise OSError(0, "other bytes came back than were sent")
            talk.expected = talk.expected[len(heard) :]
            self.counts.bytes += len(heard)
            if not talk.expected:
                self._waited(talk)
                self.counts.words += 1
                self._later(talk)
        self._watch(talk)

    def _waited(self, talk: Talk) -> None:
        self.counts.longest_wait_s = max(self.counts.longest_wait_s, time.monotonic() - talk.since)

    def _echo(self, echo: Echo, events: int) -> None:
        echo.flush()
        if events & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR) and not echo.unsent:
            if not (heard := echo.socket.recv(1 << 16)):
                self._close(echo)
                return
            echo.unsent = memoryview(heard)
            echo.flush()
        if echo.unsent:
            # Level-triggered: what is still to be read waits until this is sent.
            echo.interest = select.EPOLLOUT
            self.poller.modify(echo.socket.fileno(), select.EPOLLOUT)
        else:
            self._watch(echo)

    def step(self) -> None:
        """Everything that is there to do now; waits a little if nothing is."""
        for number, events in self.poller.poll(0.05, 500):
            if number in self.doors:
                self._called(self.doors[number])
                continue
            end = self.ends.get(number)
            if end is None:
                continue
            try:
                if isinstance(end, Talk):
                    self._talk(end, events)
                else:
                    self._echo(end, events)
            except OSError as error:
                self._lose(end, error.strerror or str(error))
        now = time.monotonic()
        while self.due and self.due[0][0] <= now:
            talk = heapq.heappop(self.due)[2]
            if self.ends.get(talk.socket.fileno()) is not talk:
                continue
            try:
                self._say(talk)
                self._watch(talk)
            except OSError as error:
                self._lose(talk, error.strerror or str(error))

    def look(self) -> None:
        """Loses who has waited too long."""
        now = time.monotonic()
        for end in list(self.ends.values()):
            if isinstance(end, Talk) and now - end.since > STUCK_S and (end.expected or end.closing):
                self._lose(end, f"nothing heard for {STUCK_S:.0f} s")

    def finish(self) -> None:
        """Nobody says more than the word that is being said."""
        for talk in [end for end in self.ends.values() if isinstance(end, Talk)]:
            talk.words = min(talk.words, 0 if talk.connected else 1)
            talk.gap_s = 1.0
        self.due = [(min(at, time.monotonic() + self.draw.random() * 5), key, talk) for at, key, talk in self.due]
        heapq.heapify(self.due)


def main() -> None:
    parser = argparse.ArgumentParser(prog="crowd.py", description=__doc__)
    parser.add_argument("srv")
    parser.add_argument("cli")
    parser.add_argument("--connections", type=int, required=True)
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--a-second", type=int, default=200, help="new connections a second, at most")
    asked = parser.parse_args()
    crowd = Crowd(asked.srv, asked.cli, asked.connections, asked.clients, asked.seed)
    coming, told = True, 0.0
    last = ended = time.monotonic()
    credit = 0.0
    # A called end whose caller was lost may never hear of it.
    while coming or crowd.talks or (crowd.ends and time.monotonic() - ended < LAST_ENDS_S):
        now = time.monotonic()
        if coming or crowd.talks:
            ended = now
        if coming:
            credit, last = min(credit + (now - last) * asked.a_second, asked.a_second), now
            while credit >= 1 and crowd.talks < crowd.wanted:
                crowd.open()
                credit -= 1
        crowd.step()
        if now - told > 2:
            told = now
            crowd.look()
            crowd.counts.open = crowd.talks
            print(json.dumps(asdict(crowd.counts)), flush=True)
            if coming and select.select([sys.stdin], [], [], 0)[0] and not sys.stdin.read(1):
                coming = False
                crowd.finish()
    crowd.counts.open = crowd.talks
    print(json.dumps(asdict(crowd.counts)), flush=True)


if __name__ == "__main__":
    main()
