"""Words of messages that every part writes alike: numbers with nouns, cut words."""

MOST_SHOWN = 40
"""Letters that a message repeats of what somebody wrote: whole names, no novels."""


def counted(number: int, word: str, several: str | None = None) -> str:
    """Return ``1 stone``, ``3 stones``; `several` is the plural if not by an s."""
    return f"{number} {word if number == 1 else several or f'{word}s'}"


def timed(seconds: float) -> str:
    """Return ``1 second``, ``0.5 seconds``."""
    return f"{seconds:g} second{'' if seconds == 1 else 's'}"


def short(text: str, most: int = MOST_SHOWN) -> str:
    """Return a text for a message; one that had to be cut ends with ``...``."""
    return text if len(text) <= most else f"{text[:most]}..."
