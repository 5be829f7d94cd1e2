"""The flows that ``--scheme`` replaces: it sets every flow, also those with a scheme of their own in the scenario."""

from __future__ import annotations

import functools

from meshpace.engine import Job


def replaced(job: Job) -> dict[str, str]:
    """Keys of flows whose scheme the scenario names and the job's scheme replaces, with what the scenario names.

    What an assignment sets (``flow.0.scheme=tcp-ap``) comes after ``--scheme`` and stays.
    """
    if job.scheme is None:
        return {}
    named = _named(job.text)
    # Mostly no flow names one, and studies ask for each of their runs.
    assigned = [_path(assignment) for assignment in job.overrides] if named else []
    return {
        key: found
        for key, found in named
        if found != job.scheme and not any(f"{key}.".startswith(f"{path}.") for path in assigned)
    }


def note(job: Job) -> str | None:
    """The same in a line, with what keeps them; None where nothing is replaced."""
    keys = replaced(job)
    if not keys:
        return None
    were = ", ".join(f'{key} = "{found}"' for key, found in keys.items())
    keep = " ".join(f"--set {key}={found}" for key, found in keys.items())
    return f"{job.name}: --scheme {job.scheme} replaces {were}; what keeps it: {keep}"


@functools.lru_cache(maxsize=256)
def _named(text: bytes) -> tuple[tuple[str, str], ...]:
    """Flows that name a scheme of their own; of a file that is no scenario none: the engine says what is wrong."""
    # Here and not above: most runs replace nothing, and it takes a quarter of an empty Python's start.
    import tomllib

    try:
        flows = tomllib.loads(text.decode("utf-8")).get("flow", [])
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return ()
    named = ((at, flow.get("scheme")) for at, flow in enumerate(flows) if isinstance(flow, dict))
    return tuple((f"flow.{at}.scheme", scheme) for at, scheme in named if isinstance(scheme, str))


def _path(assignment: str) -> str:
    """The key of ``key.path=value``, with dots alone; as the engine reads it (crates/scenario/src/overrides.rs)."""
    dotted = assignment.partition("=")[0].replace("[", ".").replace("]", "")
    return ".".join(part.strip() for part in dotted.split("."))
