"""Plots of the page as SVG: the course of an SPRT, estimates with their intervals."""

import math
from collections.abc import Sequence

from protocol.arena.markup import elo_range, elo_text, signed


def sprt_plot(ratios: Sequence[float], lower: float, upper: float) -> str:
    """Return the curve of the log-likelihood ratio between its bounds."""
    values = [0.0, *ratios]
    bottom, top = min(*values, lower), max(*values, upper)
    margin = (top - bottom) * 0.08
    bottom, top = bottom - margin, top + margin

    def y(value: float) -> float:
        return 100 * (top - value) / (top - bottom)

    points = " ".join(
        f"{1000 * i / len(ratios):.1f},{10 * y(value):.1f}"
        for i, value in enumerate(values)
    )
    bounds = "".join(
        f'<line class="{kind}" x2="100%" y1="{y(at):.2f}%" y2="{y(at):.2f}%"/>'
        f'<text x="6" y="{y(at):.2f}%" dy="{shift}">{label}</text>'
        for kind, at, shift, label in (
            ("bound", upper, "1.2em", f"H1 accepted at {signed(upper, 2)}"),
            ("zero", 0.0, "-.4em", "0"),
            ("bound", lower, "-.5em", f"H0 accepted at {signed(lower, 2)}"),
        )
    )
    return (
        '<figure class="curve"><svg role="img" height="260" '
        f'aria-label="Log-likelihood ratio after each of {len(ratios)} pairs, '
        f'now {signed(ratios[-1], 2)}">{bounds}'
        '<svg viewBox="0 0 1000 1000" preserveAspectRatio="none" '
        f'height="100%" width="100%"><polyline points="{points}"/></svg></svg>'
        '<figcaption class="axis"><span>0</span><span>pairs finished</span>'
        f"<span>{len(ratios)}</span></figcaption></figure>"
    )


def interval_plot(caption: str, rows: Sequence[tuple[str, float, float, float]]) -> str:
    """Return estimates with their intervals on one scale.

    Args:
        caption: what is shown.
        rows: label, estimate, lower and upper end; infinite ends become arrows.
    """
    ends = [value for row in rows for value in row[1:] if math.isfinite(value)]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    margin = max(5.0, (high - low) * 0.04)
    low, high = low - margin, high + margin

    def x(value: float) -> float:
        return 100 * (min(max(value, low), high) - low) / (high - low)

    ticks = _ticks(low, high)
    grid = "".join(
        f'<line class="{"grid" if tick else "zero"}" x1="{x(tick):.2f}%" '
        f'x2="{x(tick):.2f}%" y2="100%"/>'
        for tick in ticks
    )
    body = "".join(
        f'<div class="row"><span class="label">{label}</span><svg role="img" '
        f'height="32" aria-label="{elo_text(value)}, {elo_range(bottom, top)}">{grid}'
        f"{_whisker(x(value), x(bottom), x(top), bottom, top)}</svg></div>"
        for label, value, bottom, top in rows
    )
    scale = "".join(
        f'<text x="{x(tick):.2f}%" y="14">{signed(tick, 0)}</text>' for tick in ticks
    )
    return (
        f'<figure class="intervals"><figcaption>{caption}</figcaption>{body}'
        '<div class="row scale"><span></span><svg aria-hidden="true" height="20">'
        f"{scale}</svg></div></figure>"
    )


def _whisker(x: float, left: float, right: float, low: float, high: float) -> str:
    """Return the bar of an interval and the dot of its estimate."""
    shapes = [f'<line class="bar" x1="{left:.2f}%" x2="{right:.2f}%" y1="16" y2="16"/>']
    for end, value, arrow in ((left, low, "◂"), (right, high, "▸")):
        if math.isfinite(value):
            shapes.append(
                f'<line class="bar" x1="{end:.2f}%" x2="{end:.2f}%" y1="10" y2="22"/>'
            )
        else:
            shapes.append(f'<text x="{end:.2f}%" y="21">{arrow}</text>')
    shapes.append(f'<circle cx="{x:.2f}%" cy="16" r="5.5"/>')
    return "".join(shapes)


def _ticks(low: float, high: float) -> list[float]:
    """Return some round values between two others, 0 always among them."""
    rough = (high - low) / 8
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= rough)
    return [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
