"""Separates the parts of a model's stream that are not spoken: thoughts, tool calls, and the marks
that should have stayed with the server (engine.text.marks).

Invariant: the result is the same however the stream is cut into pieces; only text that may still
become a mark or a call is held back. A mark that stands as code in the reply is text.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

from engine.llm.base import Retraction, ThoughtDelta
from engine.llm.tools import bare_words
from engine.llm.tools.code_spans import Code
from engine.llm.tools.json_calls import call_length
from engine.llm.tools.mark_reader import Heading, Mark, MoreNeeded, heading, read
from engine.text.marks import ANSWERS, OTHERS, THINKS, Kind

MAX_BODY_CHARS = 20_000  # with a longer tool call the model is stuck


@dataclass(frozen=True)
class Tagged:
    """The text between the marks of a call, as the model wrote it."""

    body: str


Piece = str | ThoughtDelta | Tagged | Retraction


class _Mode(Enum):
    TEXT = "text"
    THOUGHT = "thought"
    CALL = "call"
    HIDDEN = "hidden"  # words of others
    OVER = "over"  # the model's turn has ended


# Where something else may begin.
_MARKS = re.compile(r"[<◁\[]")
_SIGNS = {
    _Mode.TEXT: re.compile(rf"[<◁\[{{`]|{bare_words.AFTER_NO_LETTER.pattern}"),
    _Mode.THOUGHT: re.compile(rf"[<◁\[]|{bare_words.JOINED.pattern}"),
}


class TagSplitter:
    """Splits a stream into plain text, thoughts and tool calls. `thinking`: the prompt has already
    begun a thought; `assumed`: perhaps, and a stream that ends none was all text.
    """

    def __init__(self, *, thinking: bool = False, assumed: bool = False) -> None:
        self._mode = _Mode.THOUGHT if thinking else _Mode.TEXT
        self._held = ""
        self._last = ""  # the character before it
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
            self._read(final=False)
        yield from self._give_out()

    def flush(self) -> Iterator[Piece]:
        """The end of the stream: text that was held back is returned as it is."""
        self._read(final=True)
        if self._mode is _Mode.CALL:
            self._close_body()
        elif self._mode is _Mode.THOUGHT and self._doubtful:
            self._mode = _Mode.TEXT
            self._put(self._doubtful)
        yield from self._give_out()

    @property
    def _said(self) -> bool:
        return self._given_out or any(isinstance(each, str) for each in self._out)

    def _give_out(self) -> list[Piece]:
        self._given_out = self._said
        pieces, self._out = self._out, []
        return pieces

    # -------------------------------------------------------------------- reading

    # These raise MoreNeeded before they change anything.

    def _read(self, *, final: bool) -> None:
        while self._held:
            if self._mode is _Mode.OVER:
                self._held = ""
            elif not self._first_channel(final=final):
                signs, before = _SIGNS.get(self._mode, _MARKS), len(self._last)
                found = signs.search(self._last + self._held, before)
                at = found.start() - before if found else len(self._held)
                if at:
                    self._put(self._take(at))
                else:
                    self._on_sign(final=final)

    def _take(self, count: int) -> str:
        taken, self._held = self._held[:count], self._held[count:]
        self._last = taken[-1:] or self._last
        return taken

    def _first_channel(self, *, final: bool) -> bool:
        """True if the reply begins with the name of a channel, which is taken."""
        if self._mode is not _Mode.TEXT or self._said:
            return False
        start = self._held.lstrip()
        first = bare_words.FIRST.match(start)
        if first and first["name"]:
            self._on_channel(len(self._held) - len(start), first["name"], final=final)
        elif first and not final:
            raise MoreNeeded
        return bool(first and first["name"])

    def _on_sign(self, *, final: bool) -> None:
        if mark := read(self._held, final=final):
            is_code = self._is_code(mark.text, final=final)
            self._take(len(mark.text))
            if is_code:
                self._put(mark.text)
            else:
                self._on_mark(mark)
        elif length := self._call_length(final=final):
            call = self._take(length)
            self._out.append(Tagged(call.strip("`").removeprefix("json").strip()))
        else:
            self._on_letter(final=final)

    def _is_code(self, sign: str, *, final: bool) -> bool:
        after = self._held[len(sign) :]
        return self._mode is _Mode.TEXT and self._code.is_code(after, final=final)

    def _call_length(self, *, final: bool) -> int:
        fenced = self._code.is_fenced or (self._said and self._held.startswith("`"))
        if self._mode is not _Mode.TEXT or fenced or self._code.line.strip():
            return 0
        return call_length(self._held, final=final)

    def _on_letter(self, *, final: bool) -> None:
        """A channel whose name alone was left, or text."""
        word = bare_words.JOINED.match(self._held)
        if word and not word["name"] and not final:
            raise MoreNeeded
        if word and word["name"] and not self._is_code(word[0], final=final):
            self._on_channel(word.start("name"), word["name"], final=final)
        else:
            self._put(self._take(1))

    def _on_channel(self, start: int, name: str, *, final: bool) -> None:
        """A name at `start`; a tool's name may follow it."""
        rest = self._held[start + len(name) :]
        joined = rest[:1].isalnum()
        to = Heading(name, "", len(name)) if joined else heading(name + rest, final=final)
        self._take(start + to.size)
        self._turn_to(to)

    # ------------------------------------------------------------------------ marks

    def _on_mark(self, mark: Mark) -> None:
        if self._mode in (_Mode.CALL, _Mode.HIDDEN):
            turns = mark.kind in (Kind.END, Kind.ROLE, Kind.CHANNEL)
            if not turns and not (mark.closing and mark.name == self._closer):
                self._put(mark.text)
                return
            self._close_body()
            if not turns:
                return
        if mark.kind in (Kind.ROLE, Kind.CHANNEL):
            self._turn_at(mark)
        else:
            self._change_at(mark)

    def _change_at(self, mark: Mark) -> None:
        thinking = self._mode is _Mode.THOUGHT
        match mark.kind:
            case Kind.THINKING if mark.closing:
                if not thinking:
                    self._retract()
                self._answer()
            case Kind.THINKING:
                if not (self._doubtful or "").strip():
                    self._doubtful = None  # it begins by itself
                self._mode = _Mode.THOUGHT
            case Kind.CALL | Kind.HIDDEN if thinking:
                self._put(mark.text)
            case Kind.CALL | Kind.HIDDEN if not mark.closing:
                self._mode = _Mode.CALL if mark.kind is Kind.CALL else _Mode.HIDDEN
                self._closer, self._body = mark.name, mark.text if mark.detail else ""
            case Kind.END if not thinking:
                self._end()
            case Kind.LONE if mark.name == "s" and not thinking:
                self._struck = (not mark.closing and self._said) or self._struck
                if mark.closing and not self._struck:
                    self._end()

    def _turn_at(self, mark: Mark) -> None:
        if not mark.closing:
            self._turn_to(mark.heading)
        elif mark.kind is Kind.CHANNEL:
            self._answer()
        elif mark.name == "turn":
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
        """The model's turn is over; but some begin their reply with such a mark."""
        if self._said:
            self._mode = _Mode.OVER

    def _answer(self) -> None:
        self._mode = _Mode.TEXT
        self.was_begun = self.was_begun or self._doubtful is not None
        self._doubtful = None

    def _retract(self) -> None:
        """All text until here was thought: the prompt had begun it."""
        self._out = [ThoughtDelta(each) if isinstance(each, str) else each for each in self._out]
        if self._given_out:
            self._out.append(Retraction())
        self.was_begun, self._given_out, self._code = True, False, Code()

    # ----------------------------------------------------------------------- output

    def _close_body(self) -> None:
        if self._mode is _Mode.CALL and self._body.strip():
            self._out.append(Tagged(self._body))
        self._mode, self._body = _Mode.TEXT, ""

    def _put(self, text: str) -> None:
        match self._mode:
            case _Mode.TEXT:
                self._code.add(text)
                self._add(text if self._said else text.lstrip())
            case _Mode.THOUGHT:
                if self._doubtful is not None:
                    self._doubtful += text
                self._add(ThoughtDelta(text))
            case _Mode.CALL:
                self._body = (self._body + text)[:MAX_BODY_CHARS]

    def _add(self, piece: str | ThoughtDelta) -> None:
        """Neighbours of one kind are one piece."""
        last = self._out[-1] if self._out else None
        if isinstance(piece, str) and isinstance(last, str):
            self._out[-1] = last + piece
        elif isinstance(piece, ThoughtDelta) and isinstance(last, ThoughtDelta):
            self._out[-1] = ThoughtDelta(last.text + piece.text)
        elif piece not in ("", ThoughtDelta("")):
            self._out.append(piece)
