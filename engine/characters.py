"""Whole characters: a language model's server may write one as two halves (surrogates of UTF-16),
and cut it between them.

Invariant: what comes out can be written as UTF-8.
"""


def whole(text: str) -> str:
    """Two halves are joined, a lone one becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class WholeCharacters:
    """Deltas in, whole characters out; a first half waits for the second. One per text."""

    def __init__(self) -> None:
        self._half = ""

    def push(self, delta: str) -> str:
        text = self._half + delta
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return whole(text[: len(text) - len(self._half)])

    def end(self) -> str:
        """What still waits, which is no character."""
        half, self._half = self._half, ""
        return whole(half)
