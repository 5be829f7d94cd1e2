"""The command line. Exit statuses: 0 done, 1 a check failed, 2 bad input, 130 interrupted."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence

from meshpace.cli.declared import Command, Group, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from meshpace.cli.parsing import Parser


class _Commands(Mapping[str, Command | Group]):
    """Commands by name, each loaded when it is asked for."""

    def __init__(self, where: Mapping[str, str]) -> None:
        self._where = where

    def __getitem__(self, name: str) -> Command | Group:
        module, _, found = self._where[name].partition(".")
        loaded: Command | Group = getattr(__import__(f"meshpace.cli.{module}", fromlist=[found]), found)
        return loaded

    def __iter__(self) -> Iterator[str]:
        return iter(self._where)

    def __len__(self) -> int:
        return len(self._where)


COMMANDS = Group(
    "meshpace",
    "Adaptive pacing for TCP over multihop wireless meshes.",
    _Commands({
        "run": "running.run",
        "sweep": "sweeping.sweep",
        "winf": "commands.winf",
        "compare": "sweeping.compare",
        "advise": "advising.advise",
        "check": "sweeping.check",
        "import": "importing.import_mesh",
        "schemes": "commands.schemes",
        "scenarios": "commands.scenarios",
        "schema": "commands.schema",
        "demo": "commands.demo",
        "crosscheck": "commands.crosscheck",
        "validate": "commands.validate",
        "calibrate": "commands.calibrate",
        "report": "commands.report",
        "store": "commands.store",
        "study": "studies.GROUP",
        "emulate": "emulate.GROUP",
    }),
)  # fmt: skip

_SHELLS = ("bash", "zsh", "fish")


def main() -> None:
    """The entry point ``meshpace``."""
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete

        argcomplete.autocomplete(tree(COMMANDS, COMMANDS.name, whole=True), always_complete_options="long")
    command, prog, words = _sought(sys.argv[1:])
    told = values(command, words)
    if told is None:
        from meshpace.cli.parsing import parsed, parser_of

        told = parsed(parser_of(command, prog), words)
    command(**told)


def find(words: Sequence[str]) -> tuple[Command, Parser, list[str]]:
    """The command that the words ask for, its parser, and what is left to parse.

    Raises:
        SystemExit: help, the version or a completion was asked for, and is printed; or there is no such command.
    """
    from meshpace.cli.parsing import parser_of

    command, prog, left = _sought(words)
    return command, parser_of(command, prog), left


def _sought(words: Sequence[str]) -> tuple[Command, str, list[str]]:
    """The command that the words ask for, what it is called there, and what is left to parse."""
    group, prog, left = COMMANDS, COMMANDS.name, list(words)
    while True:
        first = left[0] if left else "--help"
        if first.startswith("-") or first not in group.commands:
            if group.default is None or first in {"-h", "--help"}:
                _say(group, prog, left or [first])
            left.insert(0, first := group.default or "")
        found, left, prog = group.commands[first], left[1:], f"{prog} {first}"
        if not isinstance(found, Group):
            return found, prog, left
        group = found


def tree(group: Group, prog: str, *, whole: bool = False) -> Parser:
    """A group's commands as one parser, for its help; the ``whole`` of it has their options, for completion."""
    from meshpace.cli.parsing import Parser

    parser = Parser(prog, group.help)
    _fill(parser, group, whole=whole)
    return parser


def _fill(parser: Parser, group: Group, *, whole: bool) -> None:
    from meshpace.cli.parsing import fill, summary

    if group is COMMANDS:
        parser.add_argument("--version", action="store_true", help="Print the version and exit.")
        parser.add_argument(
            "--show-completion", metavar="SHELL", choices=_SHELLS,
            help=f"Print the lines by which a shell completes commands and options: {', '.join(_SHELLS)}.",
        )  # fmt: skip
    below = parser.add_subparsers(title="Commands", metavar="COMMAND")
    for name, entry in group.commands.items():
        said = entry.help if isinstance(entry, Group) else summary(entry)
        inner = below.add_parser(name, help=said, description=said)
        if whole and isinstance(entry, Group):
            _fill(inner, entry, whole=True)
        elif whole:
            fill(inner, entry)  # type: ignore[arg-type]


def _say(group: Group, prog: str, words: Sequence[str]) -> NoReturn:
    """Prints what was asked for instead of a command, or that there is no such one."""
    first = words[0]
    if group is COMMANDS and first == "--version":
        from meshpace import engine

        print(f"meshpace {engine.version()}")
        raise SystemExit(0)
    from meshpace.cli.parsing import no_such

    parser = tree(group, prog)
    if first in {"-h", "--help"}:
        parser.print_help()
    elif group is COMMANDS and first.partition("=")[0] == "--show-completion":
        from argcomplete.shell_integration import shellcode

        shell = first.partition("=")[2] or "".join(words[1:2])
        if shell not in _SHELLS:
            parser.error(f"--show-completion: found {shell!r}; allowed: {', '.join(_SHELLS)}")
        print(shellcode([COMMANDS.name], shell=shell))
    elif first.startswith("-"):
        parser.error(no_such("option", first, parser.options()))
    else:
        parser.error(no_such("command", first, list(group.commands)))
    raise SystemExit(0)
