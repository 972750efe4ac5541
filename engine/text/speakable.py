"""The filter between a language model and a voice: deltas of a reply in, spoken words out.

Invariant: the words depend on the text alone, never on how it was cut into deltas. A word is
released as soon as nothing that may follow can change it. When a spoken token is complete, all
words of the tokens before it are out; only figures in groups wait for their last group.

A token is held back for four reasons. It may be a group of figures ("020 7946 0958", "10 000"): all
groups, nine at most, wait for the first token that is not a group; a single number waits for one
token. A formula is one token; text that opens like one waits until it closes or cannot. Its reading
may depend on the next token ("5" before "May", "$1.5" before "million", "St." before a name): it
waits until that token is complete. It may open a tag or a stage direction ("<name" or "[long"), or
be one (*leaning*): the next token decides, or the next six where a direction is a phrase ("(in a
deep voice)"), and the word before waits too, for it may get the pause.
Or its pause may: a dash, a bracket or the end of a line may follow a word without punctuation; such
a word waits for the first visible character after it. Language models send that character in the
same delta as the space before it, so no time is lost, and the first word of a reply does not even
wait for that.
"""

from dataclasses import replace
from typing import Final

from engine.errors import InvalidInput
from engine.languages import ENGLISH
from engine.text.reader import Reader
from engine.text.stream.elements import Block, Element, Pause
from engine.text.stream.markdown import Markdown
from engine.text.stream.tokens import Ahead, Event, Token, TokenStream
from engine.text.word import Word
from engine.translatable import Translatable

LEFT_OUT: Final = Translatable(
    "What is written in another script, such as Chinese or Cyrillic, is shown and not "
    "spoken: the voices read Latin letters only."
)
"""A notice for the person, once a reply."""


def nothing_to_say(*, left_out: bool) -> InvalidInput:
    """The error for a text without a word; `left_out`: no voice can say its script."""
    hint = LEFT_OUT if left_out else Translatable("Give it some words.")
    return InvalidInput("There is nothing to say in this text.", hint=hint)


def check_length(text: str, most: int) -> None:
    """InvalidInput for a text of more than `most` characters."""
    if len(text) > most:
        raise InvalidInput(
            "That text has {count} characters; at most {most} are allowed.",
            hint="Send it in parts.",
            count=len(text),
            most=most,
        )


class Speakable:
    """Converts the deltas of one reply to spoken words. Spans of the words count characters over
    all deltas. `language`: its code.
    """

    def __init__(self, language: str = ENGLISH) -> None:
        self._tokens = TokenStream()
        self._markdown = Markdown(language)
        self._reader = Reader(language)
        self._is_ssml = False  # whose first word may be followed by a pause
        self._quote_goes_on = False  # behind the sign of its next line
        self._ended = False

    @property
    def left_out(self) -> bool:
        """True if something so far is in a script that no voice can say, and has no words."""
        return self._markdown.left_out

    def push(self, delta: str) -> list[Word]:
        """Add text; return the words that became certain. Not allowed after end()."""
        if self._ended:
            return []
        return self._on_events(self._tokens.push(delta))

    def end(self) -> list[Word]:
        """Return the words that were still held back."""
        if self._ended:
            return []
        self._ended = True
        words = self._on_events(self._tokens.end())
        words += self._read(self._markdown.release())
        return words + self._reader.end(self._markdown.block)

    def _on_events(self, events: list[Event]) -> list[Word]:
        words: list[Word] = []
        for event in events:
            if isinstance(event, Token):
                words += self._on_token(event)
                continue
            if event.lines:
                words += self._read(self._markdown.release())
            if self._markdown.acted and (event.char.isupper() or event.char in tuple('"“')):
                words += self._reader.feed(Pause())
            if event.lines or not self._markdown.undecided:
                words += self._ahead(event)
        return words

    def _on_token(self, token: Token) -> list[Word]:
        parts = self._markdown.feed(token)
        if self._quote_goes_on and not token.text.strip(">"):
            return []
        end = token.start + len(token.text)
        new = token.lines > 0 or self._quote_goes_on
        self._reader.on_line(token.start, end, self._markdown.block, new=new)
        self._quote_goes_on = False
        words = self._read(parts)
        self._is_ssml = self._is_ssml or token.text.startswith("<speak")
        waits = self._markdown.undecided or self._is_ssml
        if token.spaced and self._markdown.block is Block.PARAGRAPH and not waits:
            words += self._reader.first_word()
        return words

    def _ahead(self, event: Ahead) -> list[Word]:
        if self._quote_goes_on:  # a line with a sign only is an empty one
            event = replace(event, lines=2 if event.lines else 1)
        elif self._markdown.in_quote and (event.char, event.lines) == (">", 1):
            self._quote_goes_on = True
            return []
        is_item = event.char != "" and event.char in self._markdown.next_item
        return self._reader.ahead(event, self._markdown.block, is_item=is_item)

    def _read(self, elements: list[Element]) -> list[Word]:
        return [word for element in elements for word in self._reader.feed(element)]
