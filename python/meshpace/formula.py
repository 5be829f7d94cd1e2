"""A formula of one's own: a class that decides what a sender, a receiver or a gateway does.

The class names the scheme that it builds on; losses, retransmissions and whatever the formula does not answer are that
scheme's. Where both answer, the tighter window and the later departure hold. Each end of a connection, and each flow
at a gateway, has an object of its own. Equal calls must give equal answers: no clock, no random numbers, nothing shared
between objects.
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
"""In modules that are no import's: what they were made of (:mod:`meshpace.formula_files`)."""


class FormulaError(MendableError):
    """A class cannot be a scheme; one message that names what was found and what is allowed."""


class Reply(NamedTuple):
    """What a formula answers; what is None stays as it is."""

    window: float | None = None
    """Segments that may be outstanding."""
    interval: float | None = None
    """Seconds between departures; 0 holds nothing back."""


class Wait(NamedTuple):
    """When a receiver acknowledges at the latest, if nothing else makes it do so before."""

    seconds: float
    since: str = "first"
    """``first``: after the first of the segments that wait; ``this``: after this one, whatever was said before."""


class Feedback(NamedTuple):
    """What a sender asks relays on the way, and what they answer, in a header beside TCP's."""

    kind: int
    """Whose it is; RCP's is 2."""
    bytes: bytes
    """What it says, 32 at the most."""


class Formula:
    """Base of formulas. ``name`` and ``base`` belong to the class; ``window`` and ``interval`` are initial values."""

    base: ClassVar[str] = "newreno"
    """The scheme that it builds on."""
    name: ClassVar[str | None] = None
    """Of the scheme; the class's name in small letters with hyphens if None."""
    parameters: ClassVar[dict[str, Any]] = {}
    """Of the base, set differently: ``{"ap_rto_backoff": False}``."""
    window: float | None = None
    interval: float | None = None
    rated: ClassVar[bool] = False
    """Whether ``on_ack`` is a rate: it takes the place of the base's window and pace, and what is lost is sent again at
    that rate."""

    _texts: ClassVar[tuple[str, ...] | None] = None
    """Of the files that it stands on, as they were when it was made: later changes are not in what runs."""

    def __init_subclass__(cls, **more: Any) -> None:
        """Keeps what :meth:`source` tells."""
        super().__init_subclass__(**more)
        cls._texts = _texts(sys.modules.get(cls.__module__))

    @abstractmethod
    def on_ack(self, ack: Any) -> Reply | None:
        """An acknowledgement arrived.

        ``ack`` has ``now``, ``kind`` (``new``, ``duplicate``, ``other``), ``acked`` (bytes), ``mss``, ``flight``
        (segments), ``rtt``, ``rtt_oldest``, ``echoed``, ``rtt_wired`` (seconds), ``hops``, ``link_rates`` (bit/s; one
        alone if all are the same), ``ecn_echo``, and ``feedback``, a :class:`Feedback` of relays. A class may also have
        ``on_loss()``, and ``on_timeout(now)``, which answers like this one.

        A class that relays answer has ``request(rtt)``, asked at each departure: what to ask them, a :class:`Feedback`
        or None; ``rtt`` is the smoothed round trip in seconds, None before the first. A ``rated`` class answers
        intervals alone, and may have ``on_departure(now)``, which answers, too.

        A class that decides when its receivers acknowledge has ``on_segment(segment)``, with this method or without. It
        answers None, which is now, or a :class:`Wait`; ``segment`` has ``now``, ``number`` (within the connection, from
        1), ``offset`` (bytes of the stream before it) and ``waiting`` (segments that no acknowledgement has answered).
        It may have ``on_disorder(now)``, ``on_wait_over()`` and ``on_ack_sent()``.

        A class that paces what gateways send into the mesh has ``on_round_trip(trip)`` and a base with a gateway part.
        It answers a :class:`Reply` with an interval, or None; ``trip`` has ``now``, ``rtt`` (seconds, from the
        segment's departure at the gateway to its acknowledgement there), ``mss``, ``hops``, ``link_rates`` and
        ``sharing`` (flows that share the law, 1 but with ``gap_state = "host"``). It may have
        ``on_progress(progress)``, which answers the same; ``progress`` has ``now``, ``acked`` (bytes), ``again``
        (segments sent again since the last) and ``marked``.
        """

    @classmethod
    def decides(cls) -> tuple[bool, bool, bool, bool]:
        """Whether its objects decide as a sender, as a receiver, and as a gateway; and whether a sender's are rated."""
        sends = not getattr(cls.on_ack, "__isabstractmethod__", False)
        return sends, hasattr(cls, "on_segment"), hasattr(cls, "on_round_trip"), cls.rated

    @classmethod
    def scheme_name(cls) -> str:
        """What flows call it."""
        return cls.name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()

    @classmethod
    def settings(cls) -> list[str]:
        """Makes a scheme of its name, as ``--set`` would.

        Raises:
            FormulaError: it answers nothing, has the name of another scheme, or no name that a scheme may have.
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
        """Raises FormulaError where a value or a method is not of the kind that it has to be."""
        for key, kinds, allowed in _VALUES:
            value = getattr(cls, key)
            if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
                raise FormulaError(f"{cls.__qualname__}.{key}: found {value!r}; allowed: {allowed}")
        for key, count in _METHODS.items():
            method = inspect.getattr_static(cls, key, None)
            # Of others than plain functions who else is given is not known here.
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
        """The code that its answers depend on, for the keys of stored runs: its file, and those that this imports.

        What is installed (Python's own modules, packages, meshpace) is not among them. In a notebook or a shell, whose
        module is no file, it is its methods and values alone: there a function that it calls is not seen to change.
        """
        if cls._texts is not None:
            return "\n".join(cls._texts)
        return "\n".join(_written(kind) for kind in cls.__mro__ if kind not in (object, Formula))

    @classmethod
    def word(cls) -> str | None:
        """What ``--scheme`` takes for it, ``FILE.py:CLASS``; None if it is in no file, or not where a file has it.

        A script is no such file: to take a class from it would run it.
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
"""What the engine calls, and with how many values."""
_GIVEN = ("a method that is given nothing beside itself", "a method that is given one value beside itself")


def _takes(function: Any, given: list[None]) -> bool:
    try:
        inspect.signature(function).bind(*given)
    except TypeError:
        return False
    except ValueError:  # nothing can be told of it
        return True
    return True


def _file(module: ModuleType | None) -> str | None:
    """Of Python source; None in a shell, and of what is compiled."""
    path = getattr(module, "__file__", None)
    return path if isinstance(path, str) and path.endswith(".py") else None


def _texts(module: ModuleType | None) -> tuple[str, ...] | None:
    """Of a module's file and of those that it imports at its top; None where that cannot be told."""
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
    """Names of modules, and some that are none."""
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
    """Whether it is the user's, not installed."""
    path = _file(module)
    if path is None or module.__name__.partition(".")[0] == __package__:
        return False
    return not any(Path(path).is_relative_to(place) for place in _installed())


@functools.cache
def _installed() -> frozenset[str]:
    """Where what is installed lies."""
    import site
    import sysconfig

    found = map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib"))
    return frozenset((*found, *site.getsitepackages()))


def _written(kind: type) -> str:
    """What a class consists of."""
    parts = sorted((name, value) for name, value in vars(kind).items() if name != "_texts")
    return "\n".join(
        f"{name} = {' '.join(_words(value.__code__)) if inspect.isfunction(value) else repr(value)}"
        for name, value in parts
        if inspect.isfunction(value) or not name.startswith("__")
    )


def _words(code: CodeType) -> Iterator[str]:
    """What a function does, without its file and lines."""
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames))
    for constant in code.co_consts:
        yield from _words(constant) if isinstance(constant, CodeType) else (repr(constant),)


def _built_in() -> set[str]:
    from meshpace import engine

    return {row["name"] for row in engine.schemes()}


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
