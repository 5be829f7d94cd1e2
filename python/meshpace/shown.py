"""What notebooks show: HTML that stands alone, without scripts, frames or styles that could touch the page around it.

So it is also seen where nobody has run the notebook yet: on pages of repositories, and in Jupyter before it is trusted.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape


def picture(svg: str, title: str) -> str:
    """An image that carries its SVG."""
    data = b64encode(svg.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(title, quote=True)}">'


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells as they are, a number on one line with its interval; a head of several lines is one."""

    def td(cell: str) -> str:
        return f"<td>{escape(cell).replace(' ± ', '&nbsp;±&nbsp;')}</td>"

    names = (" ".join(name.replace("-\n", "").split()) for name in heads)
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(map(td, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
