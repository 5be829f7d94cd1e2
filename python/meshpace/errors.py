"""What a user can cause and mend."""

from __future__ import annotations


class MendableError(Exception):
    """Ends a command with its message on one line of standard error and exit status 2.

    Errors of this kind live beside what raises them; only this base is imported by every command, so that
    ``meshpace run`` need not load what only other commands use.
    """
