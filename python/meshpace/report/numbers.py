"""Numbers in running text as a printer sets them."""

from __future__ import annotations

import re


def numbers(text: str) -> str:
    """With minus signs for hyphens, and no line break between a number and what belongs to it."""
    text = re.sub(r"(?<![\w.-])-(?=\d)", "\N{MINUS SIGN}", text)
    text = re.sub(r"(?<=\d) (?=(?:hops?|k?bit/s|Mbit/s|ms|s|m|kB)\b)", "\u00a0", text)
    return re.sub(r"(?<=\d) ± (?=\d)", "\u00a0±\u00a0", re.sub(r"(?<=\d) ?%", "\u00a0%", text))
