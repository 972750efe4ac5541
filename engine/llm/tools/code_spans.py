"""Where code stands in a reply: between backticks, and in fences of them.

Invariant: pure; the same however the text is cut.
"""

import re

LONGEST = 200  # characters from a mark to the backtick that makes it code

_TICK_OR_END = re.compile(r"[`\n]")


class Code:
    """One per reply; told of its text and its runs of backticks in turn."""

    def __init__(self) -> None:
        self.line_is_blank = True  # so far
        self._fence = 0  # backticks it was opened with; 0 = none is open
        self._fence_line = False  # still on the line of the opening fence
        self._span = 0

    @property
    def is_open(self) -> bool:
        return bool(self._fence or self._span)

    def signs(self, others: str) -> str:
        """What may begin something in text, or end a span: in a fence only its end does."""
        return "`" if self._fence else f"{others}`{{" + "\n" * bool(self._span)

    def on_text(self, text: str) -> None:
        *before, line = text.split("\n")
        if before:
            self.line_is_blank, self._fence_line, self._span = True, False, 0
        self.line_is_blank = self.line_is_blank and not line.strip()

    def on_ticks(self, count: int) -> None:
        """A run of backticks; on_text() follows with them."""
        if self._fence:
            at_end = count >= self._fence if self.line_is_blank else self._fence_line
            self._fence = 0 if at_end else self._fence
        elif self.line_is_blank and count >= 3:
            self._fence, self._fence_line = count, True
        elif self._span in (0, count):
            self._span = 0 if self._span else count

    def closes_in(self, after: str, *, final: bool) -> bool | None:
        """Whether the span that is open is one: `after` has its end on this line. None = only more
        text can tell.
        """
        found = _TICK_OR_END.search(after)
        if found is None:
            return None if not final and len(after) < LONGEST else False
        return found[0] == "`"
