"""Which setting breaks a scenario that is sound without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from meshpace.engine import Job


def blamed(job: Job, message: str) -> str:
    """``message``, and which setting of the command line brings about what it tells of another key.

    A setting is blamed if without it alone the scenario does not complain of this, nor of anything else that it does
    not complain of with it: that could hide this. What names an option already needs no more.
    """
    from meshpace import engine

    if f"{job.name}: --" in message:
        return message
    known = set(engine.complaints(job))
    settings = [*job.overrides, *([] if job.scheme is None else [""])]
    guilty = []
    for index, setting in enumerate(settings):
        without = (
            job._replace(overrides=(*job.overrides[:index], *job.overrides[index + 1 :]))
            if setting
            else job._replace(scheme=None)
        )
        if set(engine.complaints(without)) <= known - {message}:
            guilty.append(f"--set {setting}" if setting else f"--scheme {job.scheme}")
    return f"{message}; it comes of {' or '.join(guilty)}" if guilty else message
