"""The command line. Exit statuses: 0 done, 1 a check failed, 2 bad input, 130 interrupted."""

from __future__ import annotations

from typing import Annotated

import typer

from meshpace.cli import commands, emulate, studies

app = typer.Typer(
    name="meshpace",
    help="Adaptive pacing for TCP over multihop wireless meshes.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        from meshpace import engine

        print(f"meshpace {engine.version()}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


_NAMES = {"import_mesh": "import"}
"""Commands whose name is a word of Python's own."""

for command in commands.ALL:
    app.command(_NAMES.get(command.__name__))(command)
app.add_typer(studies.app)
app.add_typer(emulate.app)


def main() -> None:
    """The entry point ``meshpace``."""
    app()
