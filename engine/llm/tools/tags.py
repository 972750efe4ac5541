"""Separates what is not to be spoken in a model's stream: thoughts, calls of tools, and the marks
that should have stayed with the server (engine.text.marks).

Invariant: the result is the same however the stream is cut into pieces; only what may still become
a mark, or a call, is held back. A mark that stands as code in the reply is text.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from engine.llm.base import Retraction, ThoughtDelta
from engine.llm.tools import bare_words
from engine.llm.tools.code_spans import Code
from engine.llm.tools.json_calls import NOT_A_CALL, JsonCall, json_call
from engine.llm.tools.mark_reader import MORE, OPENS, Mark, More, heading, read
from engine.text.marks import ANSWERS, OTHERS, OWN, THINKS, Kind

THINK = "think"
MAX_BODY_CHARS = 20_000  # with a longer tool call the model is stuck


@dataclass(frozen=True)
class Tagged:
    """What stands between the marks of a call, as the model wrote it."""

    body: str


Piece = str | ThoughtDelta | Tagged | Retraction


class _Mode(Enum):
    TEXT = "text"
    THOUGHT = "thought"
    BODY = "body"  # of a call, or of what is hidden
    OVER = "over"  # the turn of the model has ended


class TagSplitter:
    """Feed it text and get plain text, thoughts and tool calls. `inside` names the tag that the
    prompt has already opened, None for none; `assumed`: perhaps it has, and a stream that closes
    none was all text.
    """

    def __init__(self, inside: str | None = None, *, assumed: bool = False) -> None:
        self._mode = _Mode.TEXT if inside is None else _Mode.THOUGHT
        self._held = ""
        self._out: list[Piece] = []
        self._code = Code()
        self._last = ""  # the character before what is held
        self._said = False  # there was text that is no white space
        self._told = False  # and some of it has been given out
        self._final = False  # the text is known to be the answer
        self._struck = False  # <s> was open: </s> only closes it
        self._depth = 1  # of thoughts in one another
        self._assumed = assumed  # and nothing has shown it yet
        self.was_begun = False  # the prompt had opened a thought, as the stream has shown
        # Thoughts that are text if no closing tag comes; None = they are not.
        self._doubtful: str | None = "" if assumed else None
        self._body = ""
        self._closers: tuple[str, ...] = ()
        self._hidden = False  # nobody wants the body
        self._head = False  # a heading follows

    @property
    def over(self) -> bool:
        """Whether the model's turn is over: what follows is not its reply."""
        return self._mode is _Mode.OVER

    def feed(self, text: str) -> Iterator[Piece]:
        self._held += text
        while self._held and self._step(final=False):
            pass
        yield from self._given()

    def flush(self) -> Iterator[Piece]:
        """The end of the stream: text that was held back is returned as it is."""
        while self._held and self._step(final=True):
            pass
        if self._mode is _Mode.BODY:
            self._close_body()
        elif self._mode is _Mode.THOUGHT and self._doubtful:
            self._mode = _Mode.TEXT
            self._put(self._doubtful)
        yield from self._given()

    def _given(self) -> list[Piece]:
        given, self._out = self._out, []
        self._told = self._told or (self._said and any(isinstance(each, str) for each in given))
        return given

    # -------------------------------------------------------------------- reading

    def _step(self, *, final: bool) -> bool:
        """Handle what is held up to one mark; False when nothing is left, or only more text can
        tell.
        """
        if self._mode is _Mode.OVER:
            self._held = ""
        elif self._head:
            return self._on_heading(final=final)
        elif self._mode is _Mode.TEXT and not self._said:
            start = self._held.lstrip()
            if channel := bare_words.first(start):
                self._held = start
                self._channel(self._take(len(channel)))
                return True
            if start and not final and bare_words.may_be_first(start):
                return False
        at = self._next_place()
        if at != 0:
            self._put(self._take(len(self._held) if at < 0 else at))
            return at > 0
        return self._on_sign(final=final)

    def _take(self, count: int) -> str:
        taken, self._held = self._held[:count], self._held[count:]
        self._last = taken[-1:] or self._last
        return taken

    def _next_place(self) -> int:
        """Where something begins that may not be what it is put into; -1 = nowhere."""
        text = self._held
        if self._mode is _Mode.TEXT:
            signs = self._code.signs(OPENS)
            word = None if self._code.is_open else bare_words.AFTER_NO_LETTER
        else:
            signs = OPENS
            word = bare_words.JOINED if self._mode is _Mode.THOUGHT else None
        places = [at for sign in signs if (at := text.find(sign)) >= 0]
        if word and (found := word.search(self._last + text, len(self._last))):
            places.append(found.start() - len(self._last))
        return min(places, default=-1)

    def _on_sign(self, *, final: bool) -> bool:
        char = self._held[0]
        if char in OPENS:
            mark = read(self._held)
            if isinstance(mark, Mark):
                return self._on_mark(mark, final=final)
            if mark is MORE:
                return self._on_beginning(final=final)
        if self._mode is _Mode.TEXT:
            if char in "`[{" and (found := self._json_call(final=final)) is not NOT_A_CALL:
                return isinstance(found, JsonCall) and self._on_json_call(found)
            if char == "`":
                return self._on_ticks(final=final)
        if char == "a":
            return self._on_joined_word(final=final)
        self._put(self._take(1))
        return True

    def _on_beginning(self, *, final: bool) -> bool:
        """Half a mark; at the end of all it is text, unless nobody writes so."""
        if final:
            half = self._take(len(self._held))
            if self._mode is not _Mode.TEXT or not half.startswith(("<|", "<\uff5c")):
                self._put(half)
        return False

    def _on_ticks(self, *, final: bool) -> bool:
        ticks = self._held[: len(self._held) - len(self._held.lstrip("`"))]
        if len(ticks) == len(self._held) and not final:
            return False
        self._code.on_ticks(len(ticks))
        self._put(self._take(len(ticks)))
        return True

    # ---------------------------------------------------------------- bare channels

    def _on_joined_word(self, *, final: bool) -> bool:
        match = bare_words.JOINED.match(self._held)
        name = bare_words.channel(match[0]) if match else ""
        if match and name:
            self._take(len(match[0]))
            self._channel(name)
        elif match and not final:
            return False
        else:
            self._put(self._take(1))
        return True

    def _channel(self, name: str) -> None:
        """A channel whose name alone was left; a tool's name may follow it."""
        self._turn_to(name, "")
        if name == "commentary" and " to=".startswith(self._held[:4]):
            self._held, self._head = name + self._held, True

    # ------------------------------------------------------------------------ marks

    def _on_mark(self, mark: Mark, *, final: bool) -> bool:
        after = self._held[len(mark.text) :]
        if self._mode is _Mode.TEXT and self._code.is_open:
            verdict = self._code.closes_in(after, final=final)
            if verdict is None:
                return False
            if verdict:
                self._put(self._take(len(mark.text)))
                return True
            self._code = Code()
        self._take(len(mark.text))
        match self._mode:
            case _Mode.TEXT:
                self._in_text(mark)
            case _Mode.THOUGHT:
                self._in_thought(mark)
            case _:
                self._in_body(mark)
        return True

    def _in_text(self, mark: Mark) -> None:
        match mark.kind:
            case Kind.THINKING:
                if mark.closing:
                    self._retract()
                else:
                    self._mode, self._depth, self._doubtful = _Mode.THOUGHT, 1, None
            case Kind.CALL | Kind.HIDDEN if not mark.closing:
                self._mode, self._hidden = _Mode.BODY, mark.kind is Kind.HIDDEN
                self._closers = (mark.name,)
                self._body = mark.text if mark.detail else ""
            case Kind.END:
                self._end()
            case Kind.ROLE | Kind.CHANNEL:
                self._on_turn(mark)
            case _:
                if mark.name == "s" and mark.closing and not self._struck:
                    self._end()
                self._struck = mark.name == "s" and not mark.closing

    def _in_thought(self, mark: Mark) -> None:
        match mark.kind:
            case Kind.THINKING if mark.closing:
                self._depth -= 1
                self._doubtful = ""
                if not self._depth:
                    self._answer()
            case Kind.THINKING if self._assumed and not (self._doubtful or "").strip():
                self._assumed = False  # it begins by itself
                self._doubtful = None
            case Kind.THINKING:
                self._depth += 1
            case Kind.CALL | Kind.HIDDEN:
                self._put(mark.text)
            case Kind.ROLE | Kind.CHANNEL:
                self._on_turn(mark)
            case _:
                pass

    def _in_body(self, mark: Mark) -> None:
        turns = mark.kind in (Kind.END, Kind.ROLE, Kind.CHANNEL)
        closes = mark.name in self._closers and (mark.closing or mark.name in ("call", "end"))
        if not (turns or closes):
            self._put(mark.text)
            return
        self._close_body()
        if turns:
            self._in_text(mark)

    def _on_turn(self, mark: Mark) -> None:
        if not mark.closing:
            self._head = True
        elif mark.kind is Kind.CHANNEL:
            self._answer()
        elif mark.name == "turn":
            self._end()

    def _end(self) -> None:
        """The model's turn is over; but some begin their reply with such a mark."""
        if self._said:
            self._mode = _Mode.OVER

    def _on_heading(self, *, final: bool) -> bool:
        found = heading(self._held, final=final)
        if isinstance(found, More):
            return False
        self._head = False
        self._take(len(found.text))
        self._turn_to(found.name, found.tool)
        return True

    def _turn_to(self, name: str, tool: str) -> None:
        if tool:
            self._mode, self._hidden, self._closers = _Mode.BODY, False, ("call", "end")
            self._body = f"{tool} "
        elif name in THINKS:
            self._mode, self._depth, self._doubtful = _Mode.THOUGHT, 1, None
        elif name in ANSWERS:
            if self._mode is _Mode.TEXT and not self._final:
                self._retract()
            self._answer()
        elif name in OTHERS and self._said:
            self._mode = _Mode.OVER
        elif name in OTHERS:
            self._mode, self._hidden, self._closers = _Mode.BODY, True, ()
        elif name in OWN and self._mode is _Mode.BODY:
            self._mode = _Mode.TEXT

    def _answer(self) -> None:
        self._mode, self._final, self._doubtful = _Mode.TEXT, True, None
        self.was_begun = self.was_begun or self._assumed
        self._assumed = False

    def _retract(self) -> None:
        """All text until here was thought: the prompt had begun it."""
        self._out = [ThoughtDelta(each) if isinstance(each, str) else each for each in self._out]
        if self._told:
            self._out.append(Retraction())
        self.was_begun = True
        self._said = self._told = False
        self._code = Code()
        self._answer()

    # ----------------------------------------------------------------------- bodies

    def _close_body(self) -> None:
        if self._body.strip() and not self._hidden:
            self._out.append(Tagged(self._body))
        self._mode, self._body, self._hidden = _Mode.TEXT, "", False

    def _json_call(self, *, final: bool) -> JsonCall | More | object:
        in_code = self._code.is_open or not self._code.line_is_blank
        if in_code or (self._held.startswith("`") and self._said):
            return NOT_A_CALL
        return json_call(self._held, final=final)

    def _on_json_call(self, found: JsonCall) -> bool:
        taken = self._take(found.length)
        if found.is_call:
            self._out.append(Tagged(taken.strip("`").removeprefix("json").strip()))
        else:
            self._put(taken)
        return True

    # ----------------------------------------------------------------------- output

    def _put(self, text: str) -> None:
        match self._mode:
            case _Mode.TEXT:
                self._code.on_text(text)
                text = text if self._said else text.lstrip()
                self._said = self._said or bool(text)
                self._add(text)
            case _Mode.THOUGHT:
                if self._doubtful is not None:
                    self._doubtful += text
                self._add(ThoughtDelta(text))
            case _:
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
