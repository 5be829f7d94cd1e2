"""A formula of your own: a class that decides what a sender, a receiver or a gateway does.

The class names the scheme that it builds on. That scheme handles losses and retransmissions, and decides whatever the
formula does not answer. Where both answer, the tighter window and the later departure hold. Each end of a connection,
and each flow at a gateway, has an object of its own. Equal calls must give equal answers: no clock, no random numbers,
nothing shared between objects.
"""

from __future__ import annotations

import ast
import functools
import inspect
import os
import re
import sys
from abc import abstractmethod
from collections.abc import Iterator
from importlib.util import resolve_name
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, ClassVar, NamedTuple

from meshpace.errors import MendableError

LOADED = "__meshpace_file__"
"""The attribute of modules that were not imported: the file that they were made of (:mod:`meshpace.formula_files`)."""


class FormulaError(MendableError):
    """A class cannot be a scheme; the message says what was found and what is allowed."""


class Reply(NamedTuple):
    """A formula's answer; a value that is None stays as it is."""

    window: float | None = None
    """Segments that may be outstanding."""
    interval: float | None = None
    """Seconds between departures; with 0 segments leave at once."""


class Wait(NamedTuple):
    """The latest time of an acknowledgement, if nothing makes the receiver acknowledge before."""

    seconds: float
    """How long the acknowledgement may wait."""
    since: str = "first"
    """From when it counts: ``first`` of the waiting segments, or ``this`` segment, which replaces earlier answers."""


class Feedback(NamedTuple):
    """A header beside TCP's: a sender's question to relays on the way, or their answer."""

    kind: int
    """The kind of the header; RCP's is 2."""
    bytes: bytes
    """The content, at most 32 bytes."""


class Formula:
    """The base class of formulas.

    ``name`` and ``base`` belong to the class. ``window`` (segments) and ``interval`` (seconds) are the values before
    the first answer.
    """

    base: ClassVar[str] = "newreno"
    """The scheme that the formula builds on."""
    name: ClassVar[str | None] = None
    """The scheme's name; if None, the class's name in small letters with hyphens."""
    parameters: ClassVar[dict[str, Any]] = {}
    """Parameters of the base that are set differently: ``{"ap_rto_backoff": False}``."""
    window: float | None = None
    interval: float | None = None
    rated: ClassVar[bool] = False
    """Whether ``on_ack`` answers a rate. The rate takes the place of the base's window and pace, and lost segments are
    sent again at it."""

    _texts: ClassVar[tuple[str, ...] | None] = None
    """The texts of the files that the class depends on, as they were when it was made; later changes do not count."""

    def __init_subclass__(cls, **more: Any) -> None:
        """Keeps the texts for :meth:`source`."""
        super().__init_subclass__(**more)
        cls._texts = _texts(sys.modules.get(cls.__module__))

    @abstractmethod
    def on_ack(self, ack: Any) -> Reply | None:
        """An acknowledgement arrived at the sender. Answers a :class:`Reply`, or None if nothing changes.

        ``ack`` has ``now`` (seconds), ``kind`` (``new``, ``duplicate``, ``other``), ``acked`` (bytes), ``mss`` (bytes),
        ``flight`` (segments), ``rtt``, ``rtt_oldest``, ``echoed``, ``rtt_wired`` (seconds), ``hops``, ``link_rates``
        (bit/s; one value if all links have the same), ``ecn_echo``, and ``feedback``, a :class:`Feedback` of relays. A
        class may also have ``on_loss()``, and ``on_timeout(now)``, which answers like this method.

        **With relays.** A class that relays answer has ``request(rtt)``. It is called at each departure and returns the
        question for the relays, a :class:`Feedback`, or None; ``rtt`` is the smoothed round trip in seconds, None
        before the first. A ``rated`` class answers only intervals, and may have ``on_departure(now)``, which answers,
        too.

        **At a receiver.** A class that decides when its receivers acknowledge has ``on_segment(segment)``, beside this
        method or without it. It answers None to acknowledge now, or a :class:`Wait`. ``segment`` has ``now`` (seconds),
        ``number`` (within the connection, from 1), ``offset`` (bytes of the stream before it) and ``waiting`` (segments
        not acknowledged yet). The class may have ``on_disorder(now)``, ``on_wait_over()`` and ``on_ack_sent()``.

        **At a gateway.** A class that paces packets from a gateway into the mesh has ``on_round_trip(trip)``, and a
        base with a gateway part. It answers a :class:`Reply` with an interval, or None. ``trip`` has ``now``, ``rtt``
        (seconds, from the segment's departure at the gateway to its acknowledgement there), ``mss`` (bytes), ``hops``,
        ``link_rates`` (bit/s) and ``sharing`` (flows that share the law: 1, unless ``gap_state = "host"``). The class
        may have ``on_progress(progress)``, which answers the same; ``progress`` has ``now``, ``acked`` (bytes),
        ``again`` (segments sent again since the last call) and ``marked``.
        """

    @classmethod
    def decides(cls) -> tuple[bool, bool, bool, bool]:
        """Whether the class decides for senders, for receivers, for gateways; and whether its senders are rated."""
        sends = not getattr(cls.on_ack, "__isabstractmethod__", False)
        return sends, hasattr(cls, "on_segment"), hasattr(cls, "on_round_trip"), cls.rated

    @classmethod
    def scheme_name(cls) -> str:
        """The name by which flows choose it."""
        return cls.name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()

    @classmethod
    def settings(cls) -> list[str]:
        """The settings that make a scheme of the class's name, as ``--set`` takes them.

        Raises:
            FormulaError: the class has no method that answers, or its name is another scheme's or not allowed.
        """
        cls._check()
        if not any(cls.decides()[:3]):
            raise FormulaError(
                f"{cls.__qualname__}.on_ack: found none; allowed: it, on_segment, on_round_trip, or several"
            )
        if cls.rated and (cls.window is not None or not cls.decides()[0]):
            found = f"window = {cls.window}" if cls.window is not None else "no on_ack"
            raise FormulaError(f"{cls.__qualname__}.rated: found {found}; allowed: on_ack, and an interval alone")
        name = cls.scheme_name()
        if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
            raise FormulaError(f"{cls.__qualname__}.name: found {name!r}; allowed: small letters, digits and hyphens")
        if name in _built_in():
            raise FormulaError(
                f"{cls.__qualname__}.name: found {name!r}, a scheme of the engine; allowed: another name"
            )
        written = {"base": cls.base, **cls.parameters}
        return [f"scheme.{name}.{key}={_toml(value)}" for key, value in written.items()]

    @classmethod
    def _check(cls) -> None:
        """Raises FormulaError where a value or a method is of the wrong kind."""
        for key, kinds, allowed in _VALUES:
            value = getattr(cls, key)
            if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
                raise FormulaError(f"{cls.__qualname__}.{key}: found {value!r}; allowed: {allowed}")
        for key, count in _METHODS.items():
            method = inspect.getattr_static(cls, key, None)
            # Only of plain functions it is known here which other values they are given.
            if inspect.isfunction(method) and not _takes(method, [None] * (count + 1)):
                found = f"{key}{inspect.signature(method)}"
                raise FormulaError(f"{cls.__qualname__}.{key}: found {found}; allowed: {_GIVEN[count]}")
            if method is not None and not callable(getattr(cls, key)):
                raise FormulaError(f"{cls.__qualname__}.{key}: found {method!r}; allowed: {_GIVEN[count]}")
        if not _takes(cls, []):
            init = inspect.signature(cls.__init__)
            raise FormulaError(f"{cls.__qualname__}.__init__: found {init}; allowed: one that is given nothing")

    @classmethod
    def source(cls) -> str:
        """The code that the answers depend on, for the keys of stored runs: the class's file and the files it imports.

        Installed modules (Python's own, packages, meshpace) are left out. In a notebook or a shell there is no file:
        there the code is the class's methods and values alone, and a change of a function that they call is not seen.
        """
        if cls._texts is not None:
            return "\n".join(cls._texts)
        return "\n".join(_written(kind) for kind in cls.__mro__ if kind not in (object, Formula))

    @classmethod
    def word(cls) -> str | None:
        """The word for ``--scheme``, ``FILE.py:CLASS``; None if no file has the class under its name.

        A script does not count as such a file: to take a class from it would run the script.
        """
        module = sys.modules.get(cls.__module__)
        path = _file(module)
        if module is None or path is None or module.__name__ == "__main__" or module.__package__:
            return None
        shown = os.path.relpath(path) if Path(path).is_relative_to(Path.cwd()) else path
        return f"{shown}:{cls.__qualname__}" if vars(module).get(cls.__qualname__) is cls else None


_VALUES: tuple[tuple[str, tuple[type, ...], str], ...] = (
    ("base", (str,), "the name of a scheme"),
    ("name", (str, type(None)), "a name, or None"),
    ("parameters", (dict,), "a dict of the base's parameters"),
    ("window", (int, float, type(None)), "segments, a number, or None"),
    ("interval", (int, float, type(None)), "seconds, a number, or None"),
    ("rated", (bool,), "True or False"),
)
_METHODS = {
    "on_ack": 1, "on_timeout": 1, "on_loss": 0, "on_departure": 1, "request": 1, "on_segment": 1, "on_disorder": 1,
    "on_wait_over": 0, "on_ack_sent": 0, "on_round_trip": 1, "on_progress": 1,
}  # fmt: skip
"""The methods that the engine calls, with their number of arguments."""
_GIVEN = ("a method that is given nothing beside itself", "a method that is given one value beside itself")


def _takes(function: Any, given: list[None]) -> bool:
    try:
        inspect.signature(function).bind(*given)
    except TypeError:
        return False
    except ValueError:  # its signature is not known
        return True
    return True


def _file(module: ModuleType | None) -> str | None:
    """The file of a module's source; None in a shell, and for compiled modules."""
    path = getattr(module, "__file__", None)
    return path if isinstance(path, str) and path.endswith(".py") else None


def _texts(module: ModuleType | None) -> tuple[str, ...] | None:
    """The texts of a module's file and of the files that it imports at its top; None where they are not known."""
    if _file(module) is None or module is None:
        return None
    texts: dict[str, str] = {}
    left = [module]
    try:
        while left:
            one = left.pop()
            texts[one.__name__] = _text(one)
            found = map(sys.modules.get, _imports(texts[one.__name__], one.__package__ or ""))
            left += [each for each in found if each is not None and each.__name__ not in texts and _is_own(each)]
    except (OSError, SyntaxError):
        return None
    return (texts.pop(module.__name__), *(texts[name] for name in sorted(texts)))


def _imports(text: str, package: str) -> Iterator[str]:
    """Names that may be modules."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = resolve_name("." * node.level + base, package) if package else base
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _text(module: ModuleType) -> str:
    loaded = getattr(module, LOADED, None)
    text = loaded.text if loaded is not None else Path(_file(module) or "").read_bytes()
    return str(text.decode("utf-8", "backslashreplace"))


def _is_own(module: ModuleType) -> bool:
    """Whether the module is the user's, not an installed one."""
    path = _file(module)
    if path is None or module.__name__.partition(".")[0] == __package__:
        return False
    return not any(Path(path).is_relative_to(place) for place in _installed())


@functools.cache
def _installed() -> frozenset[str]:
    """The folders of installed modules."""
    import site
    import sysconfig

    found = map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib"))
    return frozenset((*found, *site.getsitepackages()))


def _written(kind: type) -> str:
    """The code and values of a class."""
    parts = sorted((name, value) for name, value in vars(kind).items() if name != "_texts")
    return "\n".join(
        f"{name} = {' '.join(_words(value.__code__)) if inspect.isfunction(value) else repr(value)}"
        for name, value in parts
        if inspect.isfunction(value) or not name.startswith("__")
    )


def _words(code: CodeType) -> Iterator[str]:
    """A function's code, without its file and lines."""
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames))
    for constant in code.co_consts:
        yield from _words(constant) if isinstance(constant, CodeType) else (repr(constant),)


def _built_in() -> set[str]:
    from meshpace import engine

    return {row["name"] for row in engine.schemes()}


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
