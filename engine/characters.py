"""Join surrogates: a language model's server may write one character as two halves of UTF-16, and
cut it between them.

Invariant: the result can be written as UTF-8.
"""

from codecs import getincrementaldecoder


def join_surrogates(text: str) -> str:
    """Join pairs of surrogates; a single one becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class WholeCharacters:
    """Joins surrogates over deltas; a first half waits for the second. One per text."""

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-16-le")("replace")

    def push(self, delta: str) -> str:
        return self._decoder.decode(delta.encode("utf-16-le", "surrogatepass"))

    def end(self) -> str:
        """Return the waiting half, as U+FFFD."""
        return self._decoder.decode(b"", final=True)
