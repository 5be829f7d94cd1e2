"""Studies once more with something else set, and their claims about it: ``[[again]]``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from meshpace.keyed import REQUIRED, Keys
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.model import Condition, Plan, Point, Settings, Study
from meshpace.study.written.axes import Sets, concerning, readings


@dataclass(frozen=True, slots=True)
class Again:
    """Studies that are run once more, and what of their claims is asked of them."""

    names: Mapping[str, str]
    """What a study is called here, by its name."""
    studies: tuple[Study, ...]
    about: str
    """The scheme that claims are about; without it there are none, or in a profile all."""
    id: str
    statement: str
    profile: str = ""
    """What the readings that are set are called together; such studies are run where it is asked for alone."""

    def claims(self, stated: Sequence[Claim]) -> Iterator[Claim]:
        """Those whose judged asks are all about these studies, one of them at least about the scheme."""
        for claim in stated if self.about or self.profile else ():
            asks = tuple(self._asks(claim))
            judged = [ask for ask in claim.asks if ask.role is not Role.BESIDE]
            about = not self.about or any(self.about in ask.measure.schemes for ask in asks)
            if len(asks) == len(judged) and about:
                yield replace(
                    claim, id=self.id.replace("{id}", claim.id), asks=asks, cause=None, told_with="",
                    statement=self.statement.replace("{statement}", claim.statement),
                    again_of=(claim.study, claim.id) if self.profile else None,
                )  # fmt: skip

    def profiled(self, stated: Sequence[Claim]) -> tuple[Study, ...]:
        """The studies of a profile, each with the claims that are shown with it."""
        found = list(self.claims(stated))
        return tuple(
            replace(study, claims=tuple(claim for claim in found if claim.study == study.name))
            for study in self.studies
        )

    def _asks(self, claim: Claim) -> Iterator[Ask]:
        """Those that make the verdict, of the studies that are run again with the schemes that they compare."""
        ran = {study.again_of: study.schemes for study in self.studies}
        for ask in claim.asks:
            if ask.role is Role.BESIDE or not set(ask.studies) <= set(self.names):
                continue
            if ask.against is not None and ask.against.study not in self.names:
                continue
            if any(not set(ask.measure.schemes) <= set(ran[name]) for name in ask.studies):
                continue
            against = ask.against and replace(ask.against, study=self.names[ask.against.study])
            yield replace(ask, studies=tuple(self.names[name] for name in ask.studies), against=against)


@dataclass(frozen=True, slots=True)
class _Changes:
    """What is other than in the study."""

    schemes: tuple[str, ...]
    """Those of them that are run; all if empty."""
    conditions: tuple[Condition, ...] | None
    """Those of them that are run; all if None."""
    readings: tuple[Point, ...]
    settings: Settings
    decisions: tuple[str, ...]
    words: Mapping[str, str]
    profile: str

    def of(self, study: Study, name: str) -> Study:
        """The study under another name, with what is set, and the decisions that this turns."""
        schemes = tuple(one for one in study.schemes if one in self.schemes) if self.schemes else study.schemes
        read = [concerning(point, schemes) for point in self.readings]
        settings = [pair for point in read for pair in point.settings]
        # A reading that sets nothing of this study's schemes is no other reading here.
        turned = [one for point in read if point.settings for one in point.decisions]
        return replace(
            study,
            name=name,
            title=self.words["title"].replace("{title}", study.title),
            figures=(),
            source=self.words["source"].replace("{source}", study.source),
            shows=self.words["shows"].replace("{shows}", study.shows.removesuffix(".")),
            schemes=schemes,
            conditions=self._run(study.conditions),
            quick=self._plan(study.quick),
            full=self._plan(study.full),
            settings=(*study.settings, *settings, *self.settings),
            decisions=tuple(dict.fromkeys((*study.decisions, *turned, *self.decisions))),
            profile=self.profile,
            again_of=study.name,
        )

    def _run(self, conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
        return conditions if self.conditions is None else tuple(one for one in conditions if one in self.conditions)

    def _plan(self, plan: Plan) -> Plan:
        return plan if plan.conditions is None else replace(plan, conditions=self._run(plan.conditions))


def again(table: Keys, known: Mapping[str, Study], sets: Sets) -> Again:
    """What a table ``[[again]]`` says.

    Raises:
        KeyedFileError: it names what is not there.
    """
    chosen = table.choices("studies", list(known), REQUIRED)
    before, after = table.texts("name", REQUIRED)[:2]
    names = {name: name.replace(before, after, 1) for name in chosen}
    there = {condition.short: condition for name in chosen for condition in known[name].conditions}
    conditions = tuple(there[one] for one in table.choices("conditions", list(there)))
    changes = _Changes(
        table.texts("schemes"),
        conditions or None,
        readings(table, "readings", sets),
        table.settings("set"),
        table.texts("decisions"),
        {key: table.text(key, f"{{{key}}}") for key in ("title", "source", "shows")},
        table.text("profile", ""),
    )
    if placed := next((point for point in changes.readings if point.routing or point.reception), None):
        table.fail("readings", f"{placed.label!r}, which is another condition", "readings that set keys")
    found = tuple(changes.of(known[name], names[name]) for name in chosen)
    schemes = {scheme for study in found for scheme in study.schemes}
    if idle := next((point for point in changes.readings if not concerning(point, list(schemes)).settings), None):
        table.fail("readings", f"{idle.label!r}, which sets nothing of what is run", "readings that do")
    if barren := next((study for study in found if not study.conditions), None):
        table.fail("conditions", f"none that {barren.again_of} has", "one of its conditions at least")
    claims = table.table("claims")
    made = Again(
        names, found, claims.text("about", ""), claims.text("id", "{id}"), claims.text("statement", "{statement}"),
        changes.profile,
    )  # fmt: skip
    claims.done()
    table.done()
    return made
