"""Texts, numbers and tables as HTML: what the page is made of.

All text of records is cleaned and escaped in `text_html`, and in `script_json` for the
viewer's script.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources

_MAX_TEXT = 400
"""Characters of one text of a record, which may quote an engine's whole output."""

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def page_file(name: str) -> str:
    """Return a file of the page: template, style or script."""
    return (resources.files("protocol.arena") / "page" / name).read_text("utf-8")


def script_json(data: object) -> str:
    """Return JSON that cannot end the script element it stands in; all of it ASCII."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def clean(text: str) -> str:
    """Return a text of a record without what HTML cannot hold, not too long."""
    if len(text) > _MAX_TEXT:
        text = text[:_MAX_TEXT] + "…"
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def text_html(text: str) -> str:
    """Return a text of a record as HTML."""
    return escape(clean(text))


def name_html(name: str) -> str:
    """Return a name as HTML that cannot turn the direction of its surroundings."""
    return f"<bdi>{text_html(name)}</bdi>"


def table_html(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    kind: str = "",
    groups: Sequence[tuple[str, int]] = (),
) -> str:
    """Return a table in a box of its own that scrolls if it must.

    Args:
        caption: what the table shows, in words.
        head: column heads, as HTML.
        rows: cells, as HTML; the first of each is its head.
        kind: CSS class.
        groups: heads of several columns and how many they span.
    """
    spans = "".join(f'<colgroup span="{span}"></colgroup>' for _, span in groups)
    above = "".join(
        f'<th scope="colgroup" colspan="{span}">{label}</th>' if label else "<td></td>"
        for label, span in groups
    )
    columns = "".join(f'<th scope="col">{label}</th>' for label in head)
    body = "\n".join(
        f'<tr><th scope="row">{first}</th>'
        + "".join(f"<td>{cell}</td>" for cell in cells)
        + "</tr>"
        for first, *cells in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}">'
        f'<table class="{kind}"><caption>{caption}</caption>{spans}<thead>'
        + (f"<tr>{above}</tr>" if above else "")
        + f"<tr>{columns}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )


def number_text(number: int) -> str:
    """Return a number; a zero stands back."""
    return str(number) if number else '<span class="zero">0</span>'


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.1f}%"


def likelihood(probability: float) -> str:
    """Return a probability in percent that is never rounded to certainty."""
    if probability > 0.9995:
        return "&gt; 99.9%"
    return "&lt; 0.1%" if probability < 0.0005 else percent(probability)


def signed(value: float, digits: int) -> str:
    """Return a number with its sign, 0 without."""
    text = f"{value:+.{digits}f}"
    return text.replace("-", "\N{MINUS SIGN}") if float(text) else text[1:]


def elo_text(value: float) -> str:
    """Return an Elo difference with its sign."""
    return signed(value, 1)


def elo_range(low: float, high: float) -> str:
    """Return an interval in words; an end without limit is not shown."""
    if math.isinf(low) and math.isinf(high):
        return "open"
    if math.isinf(high):
        return f"at least {elo_text(low)}"
    return (
        f"at most {elo_text(high)}"
        if math.isinf(low)
        else f"{elo_text(low)} to {elo_text(high)}"
    )


def seconds_text(seconds: float) -> str:
    """Return a time in words."""
    return f"{seconds:.2f} s" if seconds >= 0.9995 else f"{1000 * seconds:.3g} ms"
