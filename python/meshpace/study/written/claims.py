"""Claims as they are written: ``[claim.ID]`` with what it asks, judged by the rules that all papers are judged by.

What a claim asks stands in ``ask``, of one number or several. What all of its asks share (study, scheme, points and so
on) stands once, in ``every``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from meshpace.keyed import REQUIRED, Keys, near
from meshpace.study.claims import Against, Ask, Claim, Role
from meshpace.study.model import Study, scheme_name
from meshpace.study.places import Compare, less
from meshpace.study.words import percent
from meshpace.study.written.families import Rows, members, named, within
from meshpace.study.written.rules import rule, show
from meshpace.study.written.sizes import sized
from meshpace.study.written.vocabulary import Asked, Scope, Words

_ROLES = {role.name.lower(): role for role in Role}


@dataclass(frozen=True, slots=True)
class Setting:
    """What claims are read in: the studies that they may be about, the words that they may use."""

    studies: Mapping[str, Study]
    words: Words
    rows: Rows
    cite: str = ""
    """How the paper is cited."""
    prefix: str = ""
    """The prefix of the claims' numbers, which tells papers apart: they all count figures from 1."""
    reconstructed: tuple[str, ...] = ()
    """Schemes whose laws are not printed."""


def claims(file: Keys, defaults: Keys, setting: Setting) -> tuple[Claim, ...]:
    """The claims of a file.

    Raises:
        KeyedFileError: one says something that no claim can.
    """
    general = {key: value for key in ("claim", "ask") if isinstance(value := defaults.raw(key), dict)}
    stated = named(file, "claim", "id")
    stated = file.tables("claim") if stated is None else stated
    tables = (table.but(within(general.get("claim", {}), table.everything())) for table in stated)
    each = (one for table in tables for one in members(table, setting.rows))
    return tuple(_claim(one, general.get("ask", {}), setting) for one in each)


def _claim(table: Keys, general: Mapping[str, object], setting: Setting) -> Claim:
    printed = _printed(table, setting)
    id_ = table.text("id", REQUIRED)
    shared = table.table("every").everything()
    single = table.raw("ask")
    own = [table.table("ask")] if isinstance(single, dict) else table.tables("ask")
    tables = [
        ask for one in own for ask in members(one.but(within({**general, **shared}, one.everything())), setting.rows)
    ]
    asks = [_ask(ask, printed.value, setting) for ask in tables]
    # A key for all asks has to be of use to at least one of them; a key of one ask to that one.
    for key in shared:
        if asks and not any(ask.used(key) for ask in tables):
            table.table("every").fail(key, "an unknown key", near(key, tables[0].known()))
    for ask in tables:
        ask.done(besides=(*general, *shared))
    claim = Claim(
        id=f"{setting.prefix} {id_}".strip(),
        statement=table.text("statement", REQUIRED),
        figure=printed.figure,
        source=printed.source,
        printed=printed.text,
        asks=tuple(asks),
        value=printed.value if printed.value is not None or not tables else tables[0].number("size"),
        cause=_study(table, "cause", setting),
        told_with=_study(table, "told_with", setting) or "",
        otherwise=table.text("otherwise", ""),
        reconstructed=_about_reconstructed(asks, setting),
    )
    table.done()
    if not any(ask.role is Role.CLAIM for ask in claim.asks):
        table.fail("ask", "none that is the claim itself", 'at least one ask with role = "claim", the default')
    return claim


def _about_reconstructed(asks: Sequence[Ask], setting: Setting) -> tuple[str, ...]:
    judged = {scheme for ask in asks if ask.role is not Role.BESIDE for scheme in _schemes_of(ask)}
    return tuple(scheme for scheme in setting.reconstructed if scheme in judged)


def _schemes_of(ask: Ask) -> tuple[str, ...]:
    return (*ask.measure.schemes, *(ask.against.measure.schemes if ask.against is not None else ()))


@dataclass(frozen=True, slots=True)
class _Printed:
    """What was printed, and where."""

    text: str
    value: float | None
    figure: str
    source: str


def _printed(table: Keys, setting: Setting) -> _Printed:
    """``printed = { at = "Fig. 8", text = "up to +41 %", value = 0.41 }``, or the same as keys of the claim."""
    if isinstance(table.raw("printed"), dict):
        inner = table.table("printed")
        figure = inner.text("at", "")
        found = _Printed(
            inner.text("text", ""), inner.number("value"), figure,
            table.text("source", _source(setting.cite, inner.text("where", figure))),
        )  # fmt: skip
        inner.done()
        return found
    figure = table.text("figure", "")
    source = table.text("source", _source(setting.cite, figure))
    return _Printed(table.text("printed", ""), table.number("value"), figure, source)


def _source(cite: str, where: str) -> str:
    return ", ".join(filter(None, (cite, where)))


def _study(table: Keys, key: str, setting: Setting) -> str | None:
    name: str | None = table.choice(key, list(setting.studies))
    return name


def _ask(table: Keys, printed: float | None, setting: Setting) -> Ask:
    studies = _studies(table, setting)
    place = _place(studies, setting)
    asked = place.measure(table)
    measure = asked.measure
    points = None if asked.along or asked.kind in ("rank", "pooled_points") else place.points(table)
    against = _against(table, asked, setting) if "against" in table else None
    told = show(table, asked)
    return Ask(
        measure,
        sized(table, asked, rule(table, asked, printed), change=told is percent),
        told,
        table.text("what", _what(asked)),
        tuple(study.name for study in studies),
        points,
        table.text("unit", ""),
        best=table.flag("best"),
        role=_ROLES[table.choice("role", list(_ROLES), "claim")],
        against=against,
        joint=table.text("joint", ""),
    )


def _studies(table: Keys, setting: Setting) -> list[Study]:
    """Those that an ask is about: the file's only one, unless it says which."""
    known = list(setting.studies)
    if isinstance(table.raw("study"), str):
        return [setting.studies[table.choice("study", known)]]
    names = table.choices("study", known) if "study" in table else tuple(known[:1] if len(known) == 1 else ())
    if not names:
        table.fail("study", "nothing", near("", known))
    return [setting.studies[name] for name in names]


def _place(studies: Sequence[Study], setting: Setting) -> Scope:
    schemes = dict.fromkeys(scheme for study in studies for scheme in study.schemes)
    labels = dict.fromkeys(point.label for study in studies for point in study.axis.points)
    return Scope(setting.words, list(schemes), list(labels))


def _against(table: Keys, asked: Asked, setting: Setting) -> Against:
    """The number that another number is compared with.

    It is the same measure of another study or point, unless another measure is named.
    """
    inner = table.table("against")
    study = setting.studies[inner.choice("study", list(setting.studies), REQUIRED)]
    place = _place([study], setting)
    point = inner.choice("point", place.labels) if any(place.labels) else ""
    measure = place.measure(inner).measure if "measure" in inner else asked.measure
    functions = setting.words.functions
    compare: Compare = functions[inner.choice("compare", list(functions))] if "compare" in inner else less
    inner.done()
    return Against(study.name, point or "", measure, compare)


def _what(asked: Asked) -> str:
    if asked.quantity is None:
        return asked.kind.replace("_", " ").capitalize()
    title, scheme = asked.quantity.title, scheme_name(asked.scheme)
    if asked.kind == "rank":
        return f"Rank correlation of {scheme}'s {title} with the axis"
    beginning = f"{title[:1].upper()}{title[1:]} of {scheme}"
    return beginning if asked.over is None else f"{beginning} against {scheme_name(asked.over)}"
