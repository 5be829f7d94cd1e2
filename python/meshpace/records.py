"""Named tuples without :mod:`typing`, which takes as long to load as Python itself."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 - others import it from here
else:
    from collections import namedtuple

    class _Made(type):
        def __new__(cls, name, bases, space):
            if not bases:
                return super().__new__(cls, name, bases, space)
            fields = space["__annotations__"]
            defaults = [space[field] for field in fields if field in space]
            made = namedtuple(name, fields, defaults=defaults, module=space["__module__"])
            for key, value in space.items():
                if key not in fields and key not in {"__module__", "__qualname__"}:
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Made):
        """As :class:`typing.NamedTuple`: fields are annotations, defaults their values, methods are kept."""
