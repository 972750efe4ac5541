"""Remove the markdown from a stream of tokens; the text that a person would read aloud remains.

Invariant: nothing is kept except a few flags. Every token is handled at once, also inside code
blocks, link targets and comments, whose content is dropped token by token. A code block is
announced when it begins (its end may be far away), so the announcement stands at its opening fence.
"""

import re
import unicodedata

from engine.text.languages.vocabulary import code_block
from engine.text.pronunciation.scripts import composed, without_foreign
from engine.text.rules.punctuation import ends_sentence
from engine.text.stream import inline, notes, tags
from engine.text.stream.elements import Block, Element, Equation, Pause, Phrase, cut_at_formulas
from engine.text.stream.tokens import Token
from engine.text.word import Piece

_FENCE = re.compile(r"(`{3,}|~{3,})[^`]*")
_FENCE_BEHIND = re.compile(r"`{3,}[a-z+#]+")  # at the end of a line of text
_RULE = re.compile(r"([-*_=])\1+|[-=]{2,}|(?:\*\*\*|___)")
_ALIGNMENT = re.compile(r":-+:?|-+:")
_BAR = re.compile(r"(?<=[^\W_])\|(?=[^\W_])|^\|$")
_TABLE_RULE = re.compile(r"(?=[^|]*\|)(?=[^-]*-)[|:+-]+")
_HEADING = re.compile(r"#{1,6}")
_BULLET = re.compile(r"[-*+•‣◦▪–·●○]")
_GLUED_BULLET = re.compile(r"[•‣◦▪●○](?=\S)")
_NUMBERED = re.compile(r"(?:\*\*)?(?:\((?=[1-9]\d?\)))?(\d{1,3})[.)](?:\*\*)?")
_CIRCLED = re.compile("([①-⑳❶-❿])")
_ROMAN = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX".split()
_LETTERED = re.compile(rf"(?:\*\*)?\(?([A-Z]|{'|'.join(_ROMAN)})[.)](?:\*\*)?", re.IGNORECASE)
_INITIAL = re.compile(r"[A-Z]\.")
_TASK_BOX = re.compile(r"\[[xX]?\]?|\]")
_QUOTE = re.compile(r">+")
_DEFINITION = re.compile(r"\[[^\]^]+\]:")
_DEFINED = re.compile(r"<?(?:[a-z][a-z+.-]*:|[/#.]|\S+[/.]\w)", re.IGNORECASE)
_OPEN_TAG = re.compile(
    rf"(?<!\b\w)</?(?:{inline.INLINE_TAGS}|article|aside|blockquote|br|details|div|figure|footer|"
    r"h[1-6]|header|hr|main|nav|ol|pre|section|summary|table|tbody|td|th|thead|tr|ul)$",
    re.IGNORECASE,
)
_ACT_BEGINS, _ACT_ENDS = re.compile(r"\*(?=\w)"), re.compile(r"(?<=\w)\*$")
_TICKS = re.compile("`+")
_LONGEST_TAG = 200  # characters; its pause stands further in front
_UNCLOSED_TARGET = re.compile(r"\]\((?=[^()]*(?:\([^()]*\)[^()]*)*$)")


class Markdown:
    """Tokens in, elements out; one per reply. `block` is the kind of the line of the last token,
    `left_out`: something was in a script that no voice can say; `acted`: the last token ended a
    description of an action, such as "*Holds out hand*"; `in_quote`: its line is of a block quote.
    """

    def __init__(self, language: str) -> None:
        self._language = language
        self.block = Block.PARAGRAPH
        self.left_out = False
        self.acted = self.in_quote = False
        self._line_start = True
        self._fence = ""  # the closing fence that ends the code block we are in
        self._next_names = ("", "")  # of the next item of a list with letters or Roman numerals
        self._ruled = False  # the line has begun with a rule
        self._fence_line = False  # still on the line of the opening fence
        self._until = ""  # text that ends what is hidden; "\n": the line does
        self._within_line = False  # the hidden part ends with its line at the latest
        self._table = False  # in the body of a table, whose rows may have no outer bars
        self._formulas: tuple[tuple[int, int], ...] = ()  # of the current token
        self._address = False  # the last token was an address; its glued rest is dropped
        self._acts = False  # within "*Holds out hand*"
        self._code = False  # between backticks, within a line
        self._spaced = False  # a space follows the current token
        self._quoted = False  # the current token is, or holds some
        self._previous = ""  # the token before in this line
        self._begins = True  # the next token begins a sentence
        self._hidden_text = ""  # of a tag or a direction that goes on, from its beginning
        self._interpreted = ""  # how the content of a tag is said, see tags.interpretation
        self._held: list[Token] = []  # may open a tag or a direction; the next token decides

    @property
    def undecided(self) -> bool:
        """True inside a possible link target, tag or direction: the word before may get a mark."""
        return (self._within_line and self._until != "\n") or bool(self._held)

    def release(self) -> list[Element]:
        """Return the elements of the held token, at the end of its line."""
        if self._held and tags.is_manner(self._held[0].text):
            self._held = []
        return self._show_held()

    def _show_held(self) -> list[Element]:
        shown: list[Element] = []
        for held in self._held:
            self._formulas, self._quoted = held.formulas, False
            elements = self._visible(Piece.at(held.text, held.start))
            self._note_act(held.text)
            self._note(held.text, elements)
            shown += elements
        self._held = []
        return shown

    def _note(self, text: str, elements: list[Element]) -> None:
        """Store a token, and whether it had elements."""
        self._begins = (self._begins and not elements) or ends_sentence(text)
        self._previous = text

    def feed(self, token: Token) -> list[Element]:
        if token.lines:
            self._new_line(token)
        if self._fence:
            self._in_fence(token)
            return []
        if token.glued and self._address:
            return []
        piece = Piece.at(token.text, token.start)
        self._formulas, self._spaced = token.formulas, token.spaced
        if self._until:
            return self._hidden(piece)
        before = self._decide(token)
        if self._held:
            return []
        self._formulas = token.formulas
        if self._until:
            return before + self._hidden(piece)
        if self._line_start:
            marker = self._marker(token)
            if marker is not None:
                return marker
        if _FENCE_BEHIND.fullmatch(token.text) and not (token.spaced or self._line_start):
            return before + self._open_fence(token)
        self._line_start = False
        ticks = len(_TICKS.findall(token.text))
        self._quoted = self._code or ticks > 0
        self._code ^= bool(ticks % 2)
        elements = self._hold_or_show(piece)
        if self._held:
            return before
        self._note_act(token.text)
        self._note(token.text, elements)
        return before + elements

    def _note_act(self, text: str) -> None:
        """Find the end of an action, such as "*Holds out hand*", at the head of a sentence."""
        self._acts = self._acts or (self._begins and bool(_ACT_BEGINS.match(text)))
        self.acted = self._acts and bool(_ACT_ENDS.search(text))
        self._acts = self._acts and "*" not in text[1:]

    def _decide(self, token: Token) -> list[Element]:
        """Resolve the held tokens by this one, or hold it too. An open tag sets `_until`."""
        if not self._held:
            return []
        held, text = self._held[0], " ".join(each.text for each in self._held)
        if _INITIAL.fullmatch(text) and not _INITIAL.fullmatch(token.text):
            self._held = []
            return self._item(text[0], held.start)
        if _DEFINITION.fullmatch(text) and _DEFINED.match(token.text):
            self._held, self._until, self._within_line = [], "\n", True
            return []
        found = tags.goes_on(text, token.text) or notes.goes_on(text, token.text)
        if found is None:
            if token.spaced and tags.may_go_on(text, token.text):
                self._held.append(token)
                return []
            return self._show_held()
        self._held, self._formulas = [], held.formulas
        start, closing = found
        before = self._visible(Piece.at(text[:start], held.start))
        self._until, self._within_line = closing, not closing.startswith("</")
        self._hidden_text = text[start:] if closing else ""
        return before

    def _new_line(self, token: Token) -> None:
        lines = token.lines
        self._previous = self._interpreted = ""
        self._begins = True
        self._code = self._acts = self.acted = self.in_quote = False
        if self._until == ">" and lines == 1 and tags.ATTRIBUTE.match(token.text):
            return
        self._table = self._table and lines == 1
        self._line_start = True
        self._fence_line = False
        if not self._fence:
            self.block = Block.ROW if self._table else Block.PARAGRAPH
        if self._within_line:
            self._until, self._within_line = "", False

    def _open_fence(self, token: Token) -> list[Element]:
        text = token.text
        self._fence, self._fence_line = text[: len(text) - len(text.lstrip(text[0]))], True
        self._line_start = False
        return [Phrase(code_block(self._language), token.start, token.start + len(text))]

    def _in_fence(self, token: Token) -> None:
        if self._line_start and _QUOTE.fullmatch(token.text):
            return
        closing = self._line_start and not token.text.strip(self._fence[0])
        is_long = token.text.endswith(self._fence)
        if is_long and (closing or self._fence_line):
            self._fence = ""
        self._line_start = False

    def _marker(self, token: Token) -> list[Element] | None:
        """The elements of a token that opens a block; None if it is the first word of the line."""
        text = token.text
        if _FENCE.fullmatch(text):
            return self._open_fence(token)
        if _HEADING.fullmatch(text):
            self.block = Block.HEADING
            return []
        if _BULLET.fullmatch(text):
            self.block, self._previous = Block.ITEM, text
            return []
        definition = _DEFINITION.match(text)
        if definition and definition.end() == len(text) and token.spaced:
            self._held, self._line_start = [token], False
            return []
        if _TABLE_RULE.fullmatch(text) or (definition and _DEFINED.match(text, definition.end())):
            self._table = "|" in text and text[0] != "|"
            self._until, self._within_line = "\n", True
            return []
        if text == "|" and self._ruled:
            self._table = True
        self._ruled = bool(_RULE.fullmatch(text) or _ALIGNMENT.fullmatch(text))
        is_quote = bool(_QUOTE.fullmatch(text))
        self.in_quote = self.in_quote or is_quote
        is_task_box = self.block is Block.ITEM and _TASK_BOX.fullmatch(text)
        if self._ruled or is_quote or is_task_box:
            return []
        return self._numbered(token)

    def _numbered(self, token: Token) -> list[Element] | None:
        forms = (_NUMBERED, _LETTERED, _CIRCLED)
        match = next((found for form in forms if (found := form.fullmatch(token.text))), None)
        name = match[1].upper() if match and token.spaced else ""
        # A number, such as 2 or IV, or a letter that begins a list or follows the last one.
        is_next = not name.isalpha() or len(name) > 1 or name in ("A", "I", *self._next_names)
        if match and name and is_next:
            if _INITIAL.fullmatch(token.text):  # "A. A. Milne"?
                self._held, self._line_start = [token], False
                return []
            return self._item(name, token.start + match.start(1))
        if token.text.startswith("|"):
            self.block = Block.ROW
        elif _GLUED_BULLET.match(token.text):
            self.block = Block.ITEM
        return None

    def _item(self, name: str, start: int) -> list[Element]:
        """Return the name of a list item: its number or its letter."""
        letter, roman = self._next_names
        if name == letter or name == "A":
            letter = chr(ord(name) + 1)
        elif name in _ROMAN:
            value = _ROMAN.index(name) + 1
            roman, name = _ROMAN[value % len(_ROMAN)], str(value)
        elif not name.isdecimal():
            name = str(int(unicodedata.numeric(name)))
        self.block, self._next_names = Block.ITEM, (letter, roman)
        return [Piece(name + ",", (*range(start, start + len(name)), start + len(name)))]

    @property
    def next_item(self) -> str:
        """The characters with which the next item of a lettered list may begin."""
        names = "".join(name[:1] for name in self._next_names)
        return f"{names}{names.lower()}(*" if names else ""

    def _hidden(self, piece: Piece) -> list[Element]:
        """Drop the hidden part and go on after its end."""
        if self._until == ")" and not self._hidden_text:
            end, depth = -1, 1  # of the bracket that was opened before this piece
            for position, char in enumerate(piece.text):
                depth += (char == "(") - (char == ")")
                if depth == 0:
                    end = position + 1
                    break
        else:
            found = re.search(re.escape(self._until), piece.text, re.IGNORECASE)
            end = found.end() if found else -1
        if self._hidden_text:
            hidden = piece.text if end < 0 else piece.text[:end]
            self._hidden_text = f"{self._hidden_text} {hidden}"[:_LONGEST_TAG]
        if end < 0:
            return []
        instead = self._instead(piece.places[end - 1])
        rest = piece.cut(end).replace(notes.BEHIND_REMARK, "")
        if self._until:
            return instead + self._hidden(rest)
        return instead + (self._hold_or_show(rest) if rest.text else [])

    def _instead(self, place: int) -> list[Element]:
        """The elements in place of a hidden part that ended at `place`; more may be hidden next."""
        text, self._hidden_text = self._hidden_text, ""
        self._until, self._within_line = "", False
        if alias := tags.ALIAS.match(text):
            self._until, self._within_line = "</sub>", True
            return [Piece(word, (place,) * len(word)) for word in alias[2].split()]
        self._interpreted = tags.interpretation(text, self._language)
        pause = tags.pause(text)
        return [pause] if pause else []

    def _interpret(self, piece: Piece) -> list[Element]:
        """The elements of a token within a say-as tag, and of the text behind the tag."""
        content, end, _ = piece.text.partition("<")
        kind, self._interpreted = self._interpreted, "" if end else self._interpreted
        words = tuple(tags.interpreted(content, kind).split())
        rest = piece.cut(len(content))
        place = piece.start, max(piece.start + 1, rest.start if rest.text else piece.end)
        said = [Equation(words, content, *place, displayed=False)] if words else []
        return [*said, *self._visible(rest)]

    def _hold_or_show(self, piece: Piece) -> list[Element]:
        """The elements of the rest of a token; none, and it is held, if the next one decides."""
        opens = tags.may_open(piece.text, self._previous, begins=self._begins) or notes.may_open(
            piece.text, self._previous
        )
        if opens and not self._quoted and not self._spaced and tags.is_manner(piece.text):
            return []
        if not (opens and self._spaced) or self._quoted:
            return self._visible(piece)
        self._held = [Token(piece.text, piece.start, 0, True, False, self._formulas)]
        return []

    def _visible(self, piece: Piece) -> list[Element]:
        if not piece.text:
            return []
        if self._interpreted:
            return self._interpret(piece)
        hiding = None if self._quoted else tags.HIDING.search(piece.text)
        if hiding:
            before = self._visible(piece.cut(0, hiding.start()))
            self._until = f"</{hiding['name']}>" if hiding["name"] else "-->"
            if hiding["kind"]:
                self._until = f"[/{hiding['kind']}]"
            elif hiding[0][0] == "[":
                self._until, self._within_line = "\n", True
            return before + self._hidden(piece.cut(hiding.end()))
        found = None if self._quoted or self._formulas else tags.PAUSE.search(piece.text)
        if found:
            before, pause = self._visible(piece.cut(0, found.start())), tags.pause(found[0])
            return before + ([pause] if pause else []) + self._visible(piece.cut(found.end()))
        elements: list[Element] = []
        place = inline.Place(self._quoted, self._begins, self._previous)
        for part in cut_at_formulas(piece, self._formulas, self._language):
            if isinstance(part, Equation):
                elements.append(part)
                continue
            part = composed(self._cut_unclosed(part))
            self._address = "://" in part.text
            for plain in inline.plain_pieces(part, place):
                readable = without_foreign(plain)
                self.left_out = self.left_out or readable != plain
                for spoken in readable.split():
                    elements.extend(self._cells(spoken))
        return elements

    def _cut_unclosed(self, piece: Piece) -> Piece:
        """Cut off a link target or a tag that ends in a later token of this line."""
        target = _UNCLOSED_TARGET.search(piece.text)
        if target:
            self._until, self._within_line = ")", True
            return piece.cut(0, target.start())
        tag = _OPEN_TAG.search(piece.text)
        opened = (tag.start(), ">") if tag else None
        if not (opened or self._quoted):
            opened = tags.opened(piece.text, begins=self._begins)
        if opened:
            start, self._until = opened
            self._within_line, self._hidden_text = True, piece.text[start:]
            return piece.cut(0, start)
        return piece

    def _cells(self, piece: Piece) -> list[Element]:
        """The cells of a table row, with a pause after each."""
        if self.block is Block.PARAGRAPH and _BAR.search(piece.text):
            self.block = Block.BARRED
        bars = self.block is Block.ROW or (self.block is Block.BARRED and _BAR.search(piece.text))
        if "|" not in piece.text or not (bars or piece.text == "|"):
            return [piece]
        parts = re.finditer(r"\||[^|]+", piece.text)
        return [Pause() if part[0] == "|" else piece.cut(*part.span()) for part in parts]
