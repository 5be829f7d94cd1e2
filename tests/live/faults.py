"""What befalls a daemon in the long run, one fault at a time: `make soak`."""

from __future__ import annotations

import random
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack

from daemon import Daemon
from floods import FLOODS, flood
from net import Net, run, wait_for

METRICS = ("127.0.0.1", 9733)
PLACES = "gap_flows_max = 16384"
"""Flows known, soon as many as the connections and the floods take: what grows then is not their number."""
SUBNETS = ("10.77.0.0/16", "10.77.0.0/28", "fd77::/64")


class Faults:
    """Draws faults and does them; each leaves a daemon that runs."""

    def __init__(self, net: Net, daemon: Daemon, draw: random.Random) -> None:
        self.net = net
        self.daemon = daemon
        self.draw = draw
        self.done: Counter[str] = Counter()
        self.flooded = 0
        self.gentle: tuple[Callable[[], None], ...] = (
            *[self.flood] * 5,
            *[self.reload] * 3,
            *[self.mode] * 2,
            *[self.lookers] * 2,
            self.refused_reload,
            self.asleep,
            self.firewall_reload,
            self.rule_behind,
        )
        """Those that the same process lives through."""
        self.hard: tuple[Callable[[], None], ...] = (self.killed, self.restart)
        """Those after which there is another process."""

    def one(self, kills: bool) -> str:
        """Does one; its name."""
        hard = kills and self.draw.random() < 0.12
        fault = self.draw.choice(self.hard if hard else self.gentle)
        fault()
        self.done[fault.__name__] += 1
        return fault.__name__

    def flood(self) -> None:
        """Foreign packets for some seconds."""
        self.flooded += flood(self.net, self.draw.choice(FLOODS), self.draw.uniform(2, 8), self.draw)

    def reload(self) -> None:
        """Another file, and word of it."""
        more = [
            PLACES,
            f'gap_queue = "{self.draw.choice(("codel", "fifo"))}"',
            f'gc_profile = "{self.draw.choice(("robust", "paper"))}"',
            f'local_retransmission = "{self.draw.choice(("snoop", "off"))}"',
            f'gap_retransmissions = "{self.draw.choice(("first", "in-turn"))}"',
        ]
        top = f"ab_seed = {self.draw.randrange(1000)}\npaced_share = {self.draw.choice((1.0, 1.0, 0.5))}"
        self.daemon.write("pace", hops=self.draw.randrange(1, 9), top=top, more="[gateway]\n" + "\n".join(more))
        if self.draw.random() < 0.5:
            self.daemon.reload()
        else:
            self.daemon.signal(signal.SIGHUP)

    def refused_reload(self) -> None:
        """A file that cannot be; the earlier one stays in force."""
        good = self.daemon.file.read_text(encoding="utf-8")
        self.daemon.file.write_text("mode = 7\n", encoding="utf-8")
        answer = self.daemon.ask("reload")
        assert "error" in answer, answer
        self.daemon.file.write_text(good, encoding="utf-8")

    def mode(self) -> None:
        """Some hosts are only watched for a while, or not even that."""
        subnet = self.draw.choice(SUBNETS)
        self.daemon.ask("mode", mode=self.draw.choice(("observe", "off")), subnet=subnet)
        time.sleep(self.draw.uniform(1, 5))
        answer = self.daemon.ask("mode", mode="pace", subnet=subnet, anyway=True)
        assert "done" in answer, answer

    def asleep(self) -> None:
        """Stopped, for longer than the lease or shorter."""
        self.daemon.signal(signal.SIGSTOP)
        time.sleep(self.draw.uniform(0.5, 8))
        self.daemon.signal(signal.SIGCONT)
        wait_for(self.daemon.serves)

    def firewall_reload(self) -> None:
        """Somebody flushes all rules; the daemon makes its own again."""
        run("ip", "netns", "exec", self.net.gw, "nft", "flush", "ruleset")
        packets = self.daemon.status()["traffic"]["packets"]
        wait_for(lambda: self.daemon.status()["traffic"]["packets"] > packets + 10)

    def rule_behind(self) -> None:
        """Somebody appends a rule to the chain that ours is in."""
        rule = ["-t", "security", "-A", "FORWARD", "-p", "udp", "-j", "ACCEPT"]
        run("ip", "netns", "exec", self.net.gw, "iptables", *rule, check=False)

    def lookers(self) -> None:
        """Clients that ask without pause, and clients that never ask."""
        with ExitStack() as stack:
            for _ in range(20):
                control = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
                control.connect(str(self.daemon.socket))
            with self.net.within(self.net.gw):
                idle = [socket.create_connection(METRICS, timeout=60) for _ in range(8)]
                scraper = socket.create_connection(METRICS, timeout=60)
            for one in (*idle, scraper):
                stack.enter_context(one)
            scraper.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            assert scraper.recv(1 << 16).startswith(b"HTTP/1."), "nobody serves the metrics"
            for _ in range(10):
                self.daemon.status()
                self.daemon.ask("flows", limit=50, sort="goodput")

    def killed(self) -> None:
        """kill -9, and after a while another one."""
        self.daemon.kill()
        time.sleep(self.draw.uniform(0, 5))
        self.daemon.start()

    def restart(self) -> None:
        """SIGTERM, and another one."""
        self.daemon.stop()
        time.sleep(self.draw.uniform(0, 2))
        self.daemon.start()
