"""The pages' templates (Jinja), every value escaped unless it was made by one of them."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from meshpace.report.numbers import numbers

_FOLDER = Path(__file__).with_name("templates")
_BESIDE = Path(__file__).parent


def render(template: str, **values: Any) -> Markup:
    """A template with these values; what it does not find is an error."""
    return Markup(_environment().get_template(template).render(values))  # noqa: S704 - made by a template


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["json"] = as_json
    environment.filters["numbers"] = numbers
    environment.filters["words"] = words
    environment.filters["zip"] = zip
    environment.globals["beside"] = beside
    return environment


@cache
def beside(name: str) -> Markup:
    """A style sheet or a script of this folder as it is."""
    return Markup((_BESIDE / name).read_text(encoding="utf-8"))  # noqa: S704 - our own file


def colours() -> str:
    """The style sheet's colours by name, light and dark, for a picture that stands alone."""
    blocks = re.findall(
        r"(?:@media \(prefers-color-scheme: dark\) \{\s*)?:root \{[^}]*\}(?:\s*\})?", beside("style.css")
    )
    return re.sub(r"\s+", " ", " ".join(blocks[:2]))


def words(text: str) -> Markup:
    """A command whose options are not torn apart where its line breaks."""
    return Markup(" ").join(Markup('<span class="word">{}</span>').format(word) for word in text.split(" "))


def as_json(value: object) -> Markup:
    """A value as JSON for an element that no browser runs."""
    # `</script>` and `<!--` inside would end or change the element.
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    return Markup(text)  # noqa: S704 - nothing in it ends the element
