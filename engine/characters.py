"""Join surrogates: a language model's server may write one character as two halves of UTF-16, and
cut it between them.

Invariant: the result can be written as UTF-8.
"""


def join_surrogates(text: str) -> str:
    """Join pairs of surrogates; a single one becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class WholeCharacters:
    """Joins surrogates over deltas; a first half waits for the second. One per text."""

    def __init__(self) -> None:
        self._half = ""

    def push(self, delta: str) -> str:
        text = self._half + delta
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return join_surrogates(text[: len(text) - len(self._half)])

    def end(self) -> str:
        """Return the waiting half, as U+FFFD."""
        half, self._half = self._half, ""
        return join_surrogates(half)
