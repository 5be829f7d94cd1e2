"""``--precision goodput_bps=2%``: how narrow a confidence interval has to be, and the seeds that it takes."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from meshpace.results import FlowResult, RunResult
from meshpace.stats import estimate
from meshpace.sweeps.errors import SweepError

LEAST_SEEDS = 4
"""Fewer say too little about the spread to stop at."""
_GROWTH = 2.0
"""A step at most multiplies the seeds by this: the spread of few seeds misleads."""
_DEFAULT = "goodput_bps"


@dataclass(frozen=True, slots=True)
class Precision:
    """The 95 % confidence interval of ``field`` is to reach at most ``share`` of its mean to each side."""

    field: str
    """Of every flow, or of the run."""
    share: float

    def __str__(self) -> str:
        return f"{self.field}={self.share * 100:g}%"

    def reached(self, runs: Sequence[RunResult]) -> float | None:
        """The widest interval as a part of its mean; None where there is no interval (one seed, or a missing field).

        Infinite if a mean is zero though values differ.
        """
        widest = None
        for values in self._values(runs):
            value = estimate(values)
            if value is None or value.half_width is None:
                return None
            part = 0.0 if value.half_width == 0 else value.half_width / abs(value.mean) if value.mean else math.inf
            widest = part if widest is None else max(widest, part)
        return widest

    def lacking(self, runs: Sequence[RunResult]) -> int:
        """Seeds to add before looking again; 0 if it is precise enough, or if no seeds would make it so.

        An interval shrinks with the square root of the number of seeds.
        """
        have = len(runs)
        if have < LEAST_SEEDS:
            return LEAST_SEEDS - have
        part = self.reached(runs)
        if part is None or part <= self.share:
            return 0
        needed = have * min((part / self.share) ** 2, _GROWTH)
        return max(1, math.ceil(needed) - have)

    def _values(self, runs: Sequence[RunResult]) -> list[list[float]]:
        """By flow, or one list for a field of the run; without what does not apply."""
        if self.field in _RUN:
            found = [[run[self.field] for run in runs]]  # type: ignore[literal-required]
        else:
            flows = range(len(runs[0]["flows"]))
            found = [[run["flows"][index][self.field] for run in runs] for index in flows]  # type: ignore[literal-required]
        return [kept for values in found if (kept := [value for value in values if value is not None])]


def parse(text: str) -> Precision:
    """``goodput_bps=2%``, or ``2%`` alone for the goodput.

    Raises:
        SweepError: it is not of that form, or there is no such field.
    """
    found = re.fullmatch(r"\s*(?:(\w+)\s*=\s*)?([0-9]+(?:\.[0-9]+)?)\s*%\s*", text)
    if found is None or float(found[2]) == 0:
        raise SweepError(f"--precision: found {text!r}; allowed: FIELD=PERCENT%, such as {_DEFAULT}=2%")
    field = found[1] or _DEFAULT
    if field not in _RUN + _FLOW:
        near = difflib.get_close_matches(field, _RUN + _FLOW, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise SweepError(f"--precision: found {field}{hint}; allowed: {', '.join(_RUN + _FLOW)}")
    return Precision(field, float(found[2]) / 100)


def _numbers(kind: type) -> tuple[str, ...]:
    """The fields of a result that are numbers; annotations are text (PEP 563)."""
    numbers = {"int", "float", "int | None", "float | None"}

    def text(annotation: object) -> str:
        return getattr(annotation, "__forward_arg__", None) or str(annotation)

    return tuple(name for name, annotation in kind.__annotations__.items() if text(annotation) in numbers)


_NOT_MEASURED = {"schema", "seed", "wall_s", "simulated_s"}
_RUN = tuple(name for name in _numbers(RunResult) if name not in _NOT_MEASURED)
_FLOW = _numbers(FlowResult)
