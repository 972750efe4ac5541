"""Code in a reply: between backticks, and in fences of them.

Invariant: pure; the same however the text is cut.
"""

import re

from engine.llm.tools.mark_reader import MoreNeeded

LONGEST = 200  # characters from a mark to the backtick that makes it code

_SPAN = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)")
_TICK_OR_END = re.compile(r"[`\n]")


class Code:
    """The current line of one reply, and the fence around it."""

    def __init__(self) -> None:
        self.line = ""
        self._fence = 0  # backticks that opened it before this line; 0 = none is open

    @property
    def is_fenced(self) -> bool:
        return bool(self._fence_after(self.line))

    def add(self, text: str) -> None:
        *ended, self.line = (self.line + text).split("\n")
        for line in ended:
            self._fence = self._fence_after(line)

    def _fence_after(self, line: str) -> int:
        runs = [len(run) for run in re.findall("`+", line)]
        first = runs[0] if line.lstrip().startswith("`") else 0
        if self._fence:
            return 0 if first >= self._fence else self._fence
        return first if first >= 3 and all(run < first for run in runs[1:]) else 0

    def is_code(self, after: str, *, final: bool) -> bool:
        """Return whether a mark here, before `after`, is code. Raises MoreNeeded unless `final`."""
        if self.is_fenced:
            return True
        line = self.line.lstrip().lstrip("`") if self._fence else self.line
        if "`" not in _SPAN.sub("", line):
            return False
        found = _TICK_OR_END.search(after, 0, LONGEST)
        if found is None and not final and len(after) < LONGEST:
            raise MoreNeeded
        return found is not None and found[0] == "`"
