"""Separate the parts of a model's stream that are not spoken: thoughts, tool calls, and the marks
that should have stayed with the server (engine.text.llm_markers).

Invariant: the result is the same however the stream is cut into pieces; only text that may still
become a mark or a call is held back. A mark inside code, between backticks or in fences of them, is
text.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum
from itertools import groupby

from engine.llm.base import Retraction, ThoughtDelta
from engine.llm.tools.mark_reader import (
    AFTER_NO_LETTER,
    FIRST,
    JOINED,
    Heading,
    Mark,
    MoreNeeded,
    heading,
    read,
)
from engine.llm.tools.toolbox import ToolCall, call_length, parse_calls
from engine.text.llm_markers import ANSWERS, OTHERS, THINKS, Kind

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


MAX_BODY_CHARS = 20_000  # with a longer tool call the model is stuck


Piece = str | ThoughtDelta | ToolCall | Retraction


class _Mode(Enum):
    TEXT = "text"
    THOUGHT = "thought"
    CALL = "call"
    HIDDEN = "hidden"  # words of others
    OVER = "over"  # the model's turn has ended


# Characters and words that may begin another part of the stream.
_MARKS = re.compile(r"[<◁\[]")
_SIGNS = {
    _Mode.TEXT: re.compile(rf"[<◁\[{{`]|{AFTER_NO_LETTER.pattern}"),
    _Mode.THOUGHT: re.compile(rf"[<◁\[]|{JOINED.pattern}"),
}
# At the end of the stream these are not text: half a mark, and a mark with half its heading.
_HALF_MARK = re.compile(r"<[|\uff5c]|(?:[<◁][^<>◁▷]*[>▷]\s*|assistant(?=[fac]))\w*\Z")


class TagSplitter:
    """Splits a stream into plain text, thoughts and tool calls. `thinking`: the prompt has already
    begun a thought; `assumed`: that is only likely, and a stream that ends no thought was text.
    """

    def __init__(self, *, thinking: bool = False, assumed: bool = False) -> None:
        self._mode = _Mode.THOUGHT if thinking else _Mode.TEXT
        self._held = ""
        self._last = ""  # the character before it
        self._final = False  # no more text comes
        self._out: list[Piece] = []
        self._given_out = False  # some text was
        self._code = Code()
        self._struck = False  # <s> stands in the text: </s> only ends it
        self._body = ""  # of a call
        self._closer = ""  # the mark that ends it
        # A thought that is text if no closing mark comes; None = it is a thought anyway.
        self._doubtful: str | None = "" if assumed else None
        self.was_begun = False  # the prompt had begun a thought, as the stream has shown

    @property
    def over(self) -> bool:
        """True when the model's turn is over: the rest of the stream is not its reply."""
        return self._mode is _Mode.OVER

    def feed(self, text: str) -> Iterator[Piece]:
        self._held += text
        with suppress(MoreNeeded):
            self._read()
        yield from self._give_out()

    def flush(self) -> Iterator[Piece]:
        """Handle the end of the stream: held text is returned as it is."""
        self._final = True
        while self._held and not self.over:
            try:
                self._read()
            except MoreNeeded:
                if _HALF_MARK.match(self._held):
                    break
                self._put(self._take(1))
        if self._mode is _Mode.CALL:
            self._close_body()
        elif self._mode is _Mode.THOUGHT and self._doubtful:
            self._mode = _Mode.TEXT
            self._put(self._doubtful)
        yield from self._give_out()

    @property
    def _said(self) -> bool:
        return self._given_out or str in map(type, self._out)

    def _give_out(self) -> Iterator[Piece]:
        """Join neighbours of one kind."""
        self._given_out = self._said
        pieces, self._out = self._out, []
        for kind, group in groupby(pieces, type):
            if kind is str:
                yield "".join(map(str, group))
            elif kind is ThoughtDelta:
                yield ThoughtDelta("".join(t.text for t in group if isinstance(t, ThoughtDelta)))
            else:
                yield from group

    # -------------------------------------------------------------------- reading

    # These methods raise MoreNeeded before they change anything.

    def _read(self) -> None:
        while self._held and not self.over:
            signs, before = _SIGNS.get(self._mode, _MARKS), len(self._last)
            found = signs.search(self._last + self._held, before)
            at = found.start() - before if found else len(self._held)
            begins = self._mode is _Mode.TEXT and not self._said
            if begins and (channel := FIRST.match(self._held)):
                self._on_channel(channel)
            elif at:
                self._put(self._take(at))
            else:
                self._on_sign()

    def _take(self, count: int) -> str:
        taken, self._held = self._held[:count], self._held[count:]
        self._last = taken[-1:] or self._last
        return taken

    def _on_sign(self) -> None:
        mark = read(self._held)
        word = None if mark else JOINED.match(self._held)
        sign = mark.text if mark else word[0] if word else ""
        if sign and self._is_code(len(sign)):
            self._put(self._take(len(sign)))
        elif mark:
            self._take(len(sign))
            self._on_mark(mark)
        elif word:
            self._on_channel(word)
        elif length := self._call_length():
            call = self._take(length)
            self._out += parse_calls(call.strip("`").removeprefix("json"))
        else:
            self._put(self._take(1))

    def _is_code(self, length: int) -> bool:
        after = self._held[length:]
        return self._mode is _Mode.TEXT and self._code.is_code(after, final=self._final)

    def _call_length(self) -> int:
        in_text = self._mode is _Mode.TEXT and not (self._said and self._held.startswith("`"))
        return call_length(self._held) if in_text and self._code.begins_line else 0

    def _on_channel(self, word: re.Match[str]) -> None:
        """Handle the name of a channel without its mark; a tool's name may follow it."""
        if not word["name"]:
            raise MoreNeeded
        rest = self._held[word.end() :]
        name = Heading(word["name"], "", len(word["name"]))
        to = name if rest[:1].isalnum() else heading(name.name + rest)
        self._take(word.start("name") + to.size)
        self._turn_to(to)

    # ------------------------------------------------------------------------ marks

    def _on_mark(self, mark: Mark) -> None:
        if self._mode in (_Mode.CALL, _Mode.HIDDEN):
            closes = mark.closing and mark.name == self._closer
            if not closes and mark.kind not in (Kind.END, Kind.ROLE, Kind.CHANNEL):
                self._put(mark.text)
                return
            self._close_body()
            if closes:
                return
        match mark.kind:
            case Kind.CHANNEL if mark.closing:
                self._answer()
            case Kind.ROLE | Kind.CHANNEL:
                self._turn_to(mark.heading)
            case Kind.THINKING:
                self._on_thinking(mark)
            case Kind.CALL | Kind.HIDDEN if self._mode is _Mode.THOUGHT:
                self._put(mark.text)
            case Kind.CALL | Kind.HIDDEN if not mark.closing:
                self._mode = _Mode.CALL if mark.kind is Kind.CALL else _Mode.HIDDEN
                self._closer, self._body = mark.name, mark.text if mark.detail else ""
            case Kind.END if self._mode is _Mode.TEXT:
                self._end()
            case _ if mark.name == "s" and self._mode is _Mode.TEXT:
                self._on_strike(mark)

    def _on_thinking(self, mark: Mark) -> None:
        if not mark.closing:
            if not (self._doubtful or "").strip():
                self._doubtful = None  # it begins by itself
            self._mode = _Mode.THOUGHT
            return
        if self._mode is _Mode.TEXT:
            self._retract()
        self._answer()

    def _on_strike(self, mark: Mark) -> None:
        """Handle <s> and </s>: within a text they are HTML, otherwise </s> ends the turn."""
        if not mark.closing:
            self._struck = self._struck or self._said
        elif not self._struck:
            self._end()

    def _turn_to(self, to: Heading) -> None:
        if to.tool:
            self._mode, self._closer, self._body = _Mode.CALL, "", f"{to.tool} "
        elif to.name in THINKS:
            self._mode, self._doubtful = _Mode.THOUGHT, None
        elif to.name in ANSWERS:
            if self._mode is _Mode.TEXT and self._said:
                self._retract()
            self._answer()
        elif to.name in OTHERS:
            self._mode, self._closer = _Mode.OVER if self._said else _Mode.HIDDEN, ""

    def _end(self) -> None:
        """End the model's turn, unless it has only begun: some replies begin with an end mark."""
        if self._said:
            self._mode = _Mode.OVER

    def _answer(self) -> None:
        self._mode = _Mode.TEXT
        self.was_begun = self.was_begun or self._doubtful is not None
        self._doubtful = None

    def _retract(self) -> None:
        """Convert all text so far into a thought: the prompt had begun one."""
        self._out = [ThoughtDelta(each) if isinstance(each, str) else each for each in self._out]
        self._out += [Retraction()] * self._given_out
        self.was_begun, self._given_out, self._code = True, False, Code()

    # ----------------------------------------------------------------------- output

    def _close_body(self) -> None:
        if self._mode is _Mode.CALL and self._body.strip():
            self._out += parse_calls(self._body)
        self._mode, self._body = _Mode.TEXT, ""

    def _put(self, text: str) -> None:
        match self._mode:
            case _Mode.TEXT:
                self._code.add(text)
                text = text if self._said else text.lstrip()
                self._out += [text] if text else []
            case _Mode.THOUGHT:
                if self._doubtful is not None:
                    self._doubtful += text
                self._out += [ThoughtDelta(text)] if text else []
            case _Mode.CALL:
                self._body = (self._body + text)[:MAX_BODY_CHARS]
