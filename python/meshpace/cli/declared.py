"""Commands as functions: the annotations of their parameters say what argparse is told.

``Annotated[int, Option(min=1, help="...")]`` is an option of the parameter's name, ``Annotated[Path, Argument(...)]`` a
word that is none; ``bool`` is a flag, a list may be repeated, a parameter without a default must be given. Only
argparse lies underneath: libraries that read annotations take several times as long to load as Python itself.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NoReturn, get_args, get_origin, get_type_hints

BAD_INPUT = 2
_NARROW, _MARGIN = 78, 2
"""What help has where there is no terminal, and what it leaves of one's width, as argparse does."""

Command = Callable[..., None]


class Option:
    """An option: its names (the parameter's, if none is given), and what values are allowed."""

    def __init__(
        self,
        *names: str,
        help: str,  # noqa: A002 - argparse's own word
        metavar: str | None = None,
        min: float | None = None,  # noqa: A002
        max: float | None = None,  # noqa: A002
    ) -> None:
        self.names, self.help, self.metavar = names, help, metavar
        self.min, self.max = min, max


class Argument:
    """A word that is no option. The ``rest`` is every word from there on, whatever it looks like."""

    def __init__(self, *, metavar: str, help: str, rest: bool = False) -> None:  # noqa: A002
        self.metavar, self.help, self.rest = metavar, help, rest


class Group(NamedTuple):
    """Commands below a command. The ``default`` one's name may be left out."""

    name: str
    help: str
    commands: Mapping[str, Command | Group]
    default: str | None = None


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong, as every error of ours."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(prog, description=description, allow_abbrev=False, add_help=False, formatter_class=_Help)
        self._optionals.title = "Options"
        self._positionals.title = "Arguments"
        self.add_argument("-h", "--help", action="help", help="Show this and exit.")

    def error(self, message: str) -> NoReturn:
        """Ends with exit status 2."""
        print(f"{self.prog}: {message.removeprefix('argument ')}", file=sys.stderr)
        raise SystemExit(BAD_INPUT)

    def format_help(self) -> str:
        """As wide as the terminal."""
        # Only here: its module loads all of Python's compressors, a fifth of an empty Python's start.
        from shutil import get_terminal_size

        self.formatter_class = partial(_Help, width=get_terminal_size().columns - _MARGIN)
        return super().format_help()

    def options(self) -> list[str]:
        """Every option's names."""
        return [name for action in self._actions for name in action.option_strings]


class _Help(argparse.HelpFormatter):
    """Wide enough that most options take one line."""

    def __init__(self, prog: str, width: int = _NARROW) -> None:
        super().__init__(prog, max_help_position=32, width=width)

    def add_usage(self, usage: str | None, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, "Usage: " if prefix is None else prefix)


def parser_of(command: Command, prog: str) -> Parser:
    """The parser of one command."""
    parser = Parser(prog, summary(command))
    fill(parser, command)
    return parser


def summary(command: Command) -> str:
    """What a command does, in a line."""
    return (command.__doc__ or "").strip()


def fill(parser: argparse.ArgumentParser, command: Command) -> None:
    """Tells a parser the command's arguments and options."""
    plain: Any = _plain(command)
    names = plain.__code__.co_varnames[: plain.__code__.co_argcount]
    given = plain.__defaults__ or ()
    defaults = dict(zip(names[len(names) - len(given) :], given, strict=True))
    hints = get_type_hints(plain, include_extras=True)
    for name in names:
        assert get_origin(hints[name]) is Annotated, f"{plain.__name__}: {name} says neither Option nor Argument"
        kind, how = get_args(hints[name])
        if isinstance(how, Argument):
            _add_argument(parser, name, kind, how)
        else:
            _add_option(parser, name, kind, how, defaults)


def parsed(parser: Parser, words: Sequence[str]) -> dict[str, Any]:
    """The values of a command's parameters; options and other words may stand in any order."""
    if any(action.nargs == argparse.REMAINDER for action in parser._actions):
        found, unknown = parser.parse_known_args(words)
    else:
        if {"-h", "--help"} & set(words):
            parser.print_help()
            raise SystemExit(0)
        parser.usage = ""  # errors do not tell it, and parse_known_intermixed_args would lay it out each time
        found, unknown = parser.parse_known_intermixed_args(words)
    if unknown:
        parser.error(no_such("option" if unknown[0].startswith("-") else "argument", unknown[0], parser.options()))
    return vars(found)


def no_such(what: str, found: str, allowed: Sequence[str]) -> str:
    """``found`` is none of ``allowed``, of which the nearest is named."""
    import difflib

    near = difflib.get_close_matches(found.partition("=")[0], allowed, n=1)
    return f"no such {what}: {found}" + (f"; did you mean {near[0]}?" if near else "")


def _plain(command: Command) -> Command:
    """The function inside its decorators."""
    while (inner := getattr(command, "__wrapped__", None)) is not None:
        command = inner
    return command


def _single(kind: Any) -> tuple[Any, bool]:
    """The type of one value, and whether there may be several."""
    kinds = [found for found in get_args(kind) if found is not type(None)] if get_origin(kind) is not list else []
    kind = kinds[0] if kinds else kind
    return (get_args(kind)[0], True) if get_origin(kind) is list else (kind, False)


def _add_argument(parser: argparse.ArgumentParser, name: str, kind: Any, how: Argument) -> None:
    single, several = _single(kind)
    nargs = argparse.REMAINDER if how.rest else "+" if several else None
    parser.add_argument(
        name, metavar=how.metavar, help=how.help.replace("%", "%%"), nargs=nargs, type=_reader(single, None, None)
    )


def _add_option(
    parser: argparse.ArgumentParser, name: str, kind: Any, how: Option, defaults: Mapping[str, Any]
) -> None:
    single, several = _single(kind)
    names = how.names or (f"--{name.replace('_', '-')}",)
    default = defaults.get(name)
    if single is bool:
        parser.add_argument(*names, dest=name, action="store_true", help=how.help)
        return
    said = [how.help]
    bounds = _bounds(how.min, how.max)
    if bounds:
        said.append(f"[{bounds}]")
    if default is not None:
        said.append(f"[default: {default}]")
    parser.add_argument(
        *names, dest=name, action="append" if several else "store", default=default, required=name not in defaults,
        metavar=how.metavar or {int: "N", float: "X", Path: "FILE"}.get(single, "TEXT"),
        type=_reader(single, how.min, how.max), help=" ".join(said).replace("%", "%%"),
    )  # fmt: skip


def _bounds(low: float | None, high: float | None) -> str:
    if low is None:
        return "" if high is None else f"up to {high:g}"
    return f"from {low:g} on" if high is None else f"{_grouped(low)} to {_grouped(high)}"


def _grouped(bound: float) -> str:
    return f"{bound:,}" if isinstance(bound, int) else f"{bound:,.15g}"


def _reader(kind: Any, low: float | None, high: float | None) -> Callable[[str], Any]:
    if kind not in {int, float}:
        return kind  # type: ignore[no-any-return]

    def read(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or (low is not None and not value >= low) or (high is not None and not value <= high):
            allowed = " ".join(filter(None, ("a whole number" if kind is int else "a number", _bounds(low, high))))
            raise argparse.ArgumentTypeError(f"found {text!r}; allowed: {allowed}")
        return value

    return read
