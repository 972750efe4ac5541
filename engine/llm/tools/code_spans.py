"""Code in a reply: between backticks, and in fences of them.

Invariant: pure; the same however the text is cut.
"""

import re

from engine.llm.tools.mark_reader import MoreNeeded

LONGEST = 200  # characters from a mark to the backtick that makes it code

_PARTS = re.compile(r"`+|\n|[^`\n]+")
_TICK_OR_END = re.compile(r"[`\n]")


class Code:
    """Tracks whether the text of a reply ends inside code."""

    def __init__(self) -> None:
        self._is_blank = True  # the current line, so far
        self._fence = 0  # backticks that opened it; 0 = none is open
        self._is_fence_line = False  # still on the line that opened it
        self._span = 0  # likewise of code within the line
        self._run = 0  # backticks at the end of the text

    @property
    def begins_line(self) -> bool:
        """True at the beginning of a line outside a fence."""
        self._end_run()
        return self._is_blank and not self._fence

    def add(self, text: str) -> None:
        for part in _PARTS.findall(text):
            if part.startswith("`"):
                self._run += len(part)
                continue
            self._end_run()
            if part == "\n":
                self._is_blank, self._is_fence_line, self._span = True, False, 0
            elif part.strip():
                self._is_blank = False

    def is_code(self, after: str, *, final: bool) -> bool:
        """Return whether a mark here, before `after`, is code. Raises MoreNeeded unless `final`."""
        self._end_run()
        if self._fence or not self._span:
            return bool(self._fence)
        found = _TICK_OR_END.search(after, 0, LONGEST)
        if found is None and not final and len(after) < LONGEST:
            raise MoreNeeded
        return found is not None and found[0] == "`"

    def _end_run(self) -> None:
        count, self._run = self._run, 0
        if count and self._fence:
            closes = count >= self._fence and (self._is_blank or self._is_fence_line)
            self._fence = 0 if closes else self._fence
        elif count >= 3 and self._is_blank:
            self._fence, self._is_fence_line = count, True
        elif count and self._span in (0, count):
            self._span = count - self._span
        self._is_blank = self._is_blank and not count
