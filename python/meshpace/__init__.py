"""Adaptive pacing for TCP over multihop wireless meshes: simulator, studies, report.

In Python: :class:`Scenario`, :func:`run`, :func:`sweep`, :func:`advise`, and :class:`Formula` for a formula of your own
(docs/python.md). Each name is loaded when it is first used, so that commands start at once. This file itself loads
nothing: until :mod:`meshpace.starting` has taken over signals, Ctrl-C would end in a traceback.
"""

from __future__ import annotations

TYPE_CHECKING = False
"""As :mod:`typing` has it."""

if TYPE_CHECKING:
    from typing import Any

    from meshpace._engine import ScenarioError
    from meshpace.advice.api import AdviceResult, advise
    from meshpace.api import Drawing, Run, Runs, Scenario, SweepResult, run, sweep
    from meshpace.formula import Feedback, Formula, Reply, Wait

_WHERE = {
    "AdviceResult": "advice.api", "advise": "advice.api",
    "Drawing": "api", "Run": "api", "Runs": "api", "Scenario": "api", "SweepResult": "api", "run": "api",
    "sweep": "api", "Feedback": "formula", "Formula": "formula", "Reply": "formula", "Wait": "formula",
    "ScenarioError": "_engine",
}  # fmt: skip

__all__ = [
    "AdviceResult", "Drawing", "Feedback", "Formula", "Reply", "Run", "Runs", "Scenario", "ScenarioError",
    "SweepResult", "Wait", "advise", "run", "sweep",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE])
