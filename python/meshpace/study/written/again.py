"""Studies once more with something else set, and their claims about it: ``[[again]]``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from meshpace.keyed import REQUIRED, Keys
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.model import Settings, Study


@dataclass(frozen=True, slots=True)
class Again:
    """Studies that are run once more, and what of their claims is asked of them."""

    names: Mapping[str, str]
    """What a study is called here, by its name."""
    studies: tuple[Study, ...]
    about: str
    """The scheme that claims are about; without it there are none."""
    id: str
    statement: str

    def claims(self, stated: Sequence[Claim]) -> Iterator[Claim]:
        """Those whose judged asks are all about these studies, one of them at least about the scheme."""
        for claim in stated if self.about else ():
            asks = tuple(self._asks(claim))
            judged = [ask for ask in claim.asks if ask.role is not Role.BESIDE]
            if len(asks) == len(judged) and any(self.about in ask.measure.schemes for ask in asks):
                yield replace(
                    claim, id=self.id.replace("{id}", claim.id), asks=asks, cause=None, told_with="",
                    statement=self.statement.replace("{statement}", claim.statement),
                )  # fmt: skip

    def _asks(self, claim: Claim) -> Iterator[Ask]:
        """Those that make the verdict, of the studies that are run again."""
        for ask in claim.asks:
            if ask.role is Role.BESIDE or not set(ask.studies) <= set(self.names):
                continue
            if ask.against is not None and ask.against.study not in self.names:
                continue
            against = ask.against and replace(ask.against, study=self.names[ask.against.study])
            yield replace(ask, studies=tuple(self.names[name] for name in ask.studies), against=against)


def again(table: Keys, known: Mapping[str, Study]) -> Again:
    """What a table ``[[again]]`` says.

    Raises:
        KeyedFileError: it names what is not there.
    """
    chosen = table.choices("studies", list(known), REQUIRED)
    before, after = table.texts("name", REQUIRED)[:2]
    names = {name: name.replace(before, after, 1) for name in chosen}
    schemes = table.texts("schemes")
    settings = table.settings("set")
    decisions = table.texts("decisions")
    words = {key: table.text(key, f"{{{key}}}") for key in ("title", "source", "shows")}
    found = tuple(_again(known[name], names[name], schemes, (settings, decisions), words) for name in chosen)
    claims = table.table("claims")
    made = Again(
        names, found, claims.text("about", ""), claims.text("id", "{id}"), claims.text("statement", "{statement}")
    )
    claims.done()
    table.done()
    return made


def _again(
    study: Study, name: str, schemes: Sequence[str], more: tuple[Settings, tuple[str, ...]], words: Mapping[str, str]
) -> Study:
    """The study under another name, with ``more`` set, and the decisions that this turns."""
    settings, decisions = more
    return replace(
        study,
        name=name,
        title=words["title"].replace("{title}", study.title),
        figures=(),
        source=words["source"].replace("{source}", study.source),
        shows=words["shows"].replace("{shows}", study.shows.removesuffix(".")),
        schemes=tuple(scheme for scheme in study.schemes if scheme in schemes) if schemes else study.schemes,
        settings=(*study.settings, *settings),
        decisions=(*study.decisions, *decisions),
    )
