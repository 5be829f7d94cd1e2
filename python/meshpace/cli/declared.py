"""Commands as functions: the annotations of their parameters say what a command line may have.

``Annotated[int, Option(min=1, help="...")]`` is an option of the parameter's name, ``Annotated[Path, Argument(...)]`` a
word that is none; ``bool`` is a flag, a list may be repeated, a parameter without a default must be given.

:func:`values` reads a command line that is right and has nothing unusual, so that a command starts at once: this file
loads neither argparse nor :mod:`typing`. All else is :mod:`meshpace.cli.parsing`'s, which goes by the same annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

TYPE_CHECKING = False
"""As :mod:`typing` has it."""

if TYPE_CHECKING:
    from pathlib import Path as Path  # noqa: PLC0414 - others import it from here
    from typing import Annotated as Annotated  # noqa: PLC0414
    from typing import Any
else:

    class Annotated:
        """A type with an option or argument, as :mod:`typing`'s, which takes as long to load as Python itself."""

        def __class_getitem__(cls, said: tuple[object, object]) -> Annotated:
            made = cls()
            made.__origin__, *made.__metadata__ = said
            return made

    class Path:
        """Makes paths; what they are made of is loaded for the first one."""

        def __new__(cls, text: str) -> object:
            """The real one."""
            from pathlib import Path as Made

            return Made(text)


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


class Group:
    """Commands below a command. The ``default`` one's name may be left out."""

    def __init__(
        self,
        name: str,
        help: str,  # noqa: A002
        commands: Mapping[str, Command | Group],
        default: str | None = None,
    ) -> None:
        self.name, self.help, self.commands, self.default = name, help, commands, default


class Parameter:
    """A parameter of a command: the ``kind`` of one value, and whether there may be ``several``."""

    def __init__(self, name: str, hint: Any, *, default: object, required: bool) -> None:
        kind, self.how = hint.__origin__, hint.__metadata__[0]
        # Of `list[str] | None` the list, of `list[str]` the words.
        if not hasattr(kind, "__origin__"):
            kind = next((found for found in getattr(kind, "__args__", ()) if found is not type(None)), kind)
        self.several = getattr(kind, "__origin__", None) is list
        self.name, self.default, self.required = name, default, required
        self.kind: Any = kind.__args__[0] if self.several else kind

    def words(self) -> tuple[str, ...]:
        """The names of an option."""
        return self.how.names or (f"--{self.name.replace('_', '-')}",)


def parameters(command: Command) -> Iterator[Parameter]:
    """What a command may be told."""
    plain: Any = command
    while (inner := getattr(plain, "__wrapped__", None)) is not None:
        plain = inner  # the function inside its decorators
    names = plain.__code__.co_varnames[: plain.__code__.co_argcount]
    given = plain.__defaults__ or ()
    defaults = dict(zip(names[len(names) - len(given) :], given, strict=True))
    for name in names:
        hint = eval(plain.__annotations__[name], plain.__globals__)  # noqa: S307 - a line of this package
        assert hasattr(hint, "__metadata__"), f"{plain.__name__}: {name} says neither Option nor Argument"
        yield Parameter(name, hint, default=defaults.get(name), required=name not in defaults)


def values(command: Command, words: Sequence[str]) -> dict[str, Any] | None:
    """The values of a command's parameters; ``None`` where something is wrong, or is not said in the plainest way."""
    taken: dict[str, Any] = {}
    options: dict[str, Parameter] = {}
    arguments = []
    for parameter in parameters(command):
        if isinstance(parameter.how, Argument):
            if parameter.several or parameter.how.rest:
                return None
            arguments.append(parameter)
        else:
            taken[parameter.name] = parameter.default
            options.update(dict.fromkeys(parameter.words(), parameter))
    missing = {parameter.name for parameter in options.values() if parameter.required}
    left = iter(words)
    try:
        for word in left:
            if not word.startswith("-"):
                parameter = arguments.pop(0)
                taken[parameter.name] = parameter.kind(word)
                continue
            name, equals, text = word.partition("=")
            parameter = options[name]
            if parameter.kind is bool:
                if equals:
                    return None
                taken[parameter.name] = True
                continue
            if not equals and (text := next(left)).startswith("-"):
                return None
            value = reader(parameter.kind, parameter.how.min, parameter.how.max)(text)
            taken[parameter.name] = [*(taken[parameter.name] or ()), value] if parameter.several else value
            missing.discard(parameter.name)
    except (IndexError, KeyError, StopIteration, ValueError):
        return None
    return None if arguments or missing else taken


def bounds(low: float | None, high: float | None) -> str:
    """What a number may be, in words."""
    if low is None:
        return "" if high is None else f"up to {high:g}"
    return f"from {low:g} on" if high is None else f"{_grouped(low)} to {_grouped(high)}"


def _grouped(bound: float) -> str:
    return f"{bound:,}" if isinstance(bound, int) else f"{bound:,.15g}"


def reader(kind: Any, low: float | None, high: float | None) -> Callable[[str], Any]:
    """Makes a value of a word.

    It raises a ValueError that says what was found and what is allowed where the word is no such number.
    """
    if kind not in {int, float}:
        return kind  # type: ignore[no-any-return]

    def read(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or (low is not None and not value >= low) or (high is not None and not value <= high):
            allowed = " ".join(filter(None, ("a whole number" if kind is int else "a number", bounds(low, high))))
            raise ValueError(f"found {text!r}; allowed: {allowed}")
        return value

    return read
