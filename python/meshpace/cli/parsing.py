"""The commands' declarations for argparse: help, completion, and mistakes in a command line.

A command line that is right needs none of it, and argparse with what it loads takes as long as an empty Python's start.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from meshpace.cli.declared import Argument, Command, Option, Parameter, bounds, parameters, reader

BAD_INPUT = 2
_NARROW, _MARGIN = 78, 2
"""What help has where there is no terminal, and what it leaves of one's width, as argparse does."""


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
    for parameter in parameters(command):
        if isinstance(parameter.how, Argument):
            _add_argument(parser, parameter, parameter.how)
        else:
            _add_option(parser, parameter, parameter.how)


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
    """``found`` is none of ``allowed``; the message names the nearest one."""
    import difflib

    near = difflib.get_close_matches(found.partition("=")[0], allowed, n=1)
    return f"no such {what}: {found}" + (f"; did you mean {near[0]}?" if near else "")


def _add_argument(parser: argparse.ArgumentParser, parameter: Parameter, how: Argument) -> None:
    nargs = argparse.REMAINDER if how.rest else "+" if parameter.several else None
    parser.add_argument(
        parameter.name, metavar=how.metavar, help=how.help.replace("%", "%%"), nargs=nargs,
        type=_type(parameter.kind, None, None),
    )  # fmt: skip


def _add_option(parser: argparse.ArgumentParser, parameter: Parameter, how: Option) -> None:
    names, kind, default = parameter.words(), parameter.kind, parameter.default
    if kind is bool:
        parser.add_argument(*names, dest=parameter.name, action="store_true", help=how.help)
        return
    said = [how.help]
    allowed = bounds(how.min, how.max)
    if allowed:
        said.append(f"[{allowed}]")
    if default is not None and not parameter.required:
        said.append(f"[default: {default}]")
    metavar = how.metavar or {"int": "N", "float": "X", "Path": "FILE"}.get(kind.__name__, "TEXT")
    parser.add_argument(
        *names, dest=parameter.name, action="append" if parameter.several else "store",
        default=None if parameter.required else default, required=parameter.required, metavar=metavar,
        type=_type(kind, how.min, how.max), help=" ".join(said).replace("%", "%%"),
    )  # fmt: skip


def _type(kind: Any, low: float | None, high: float | None) -> Callable[[str], Any]:
    if kind not in {int, float}:
        return kind  # type: ignore[no-any-return]
    read = reader(kind, low, high)

    def typed(text: str) -> Any:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return typed
