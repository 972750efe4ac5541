"""The text stretched to the length of the speech: which phone each step of the spectrum is given.

The transducer predicts tokens while it reads phones. Each phone, repeated once for every token
predicted at it, gives the aligned text X'. Its leading begin marks are deleted and as many end
marks are appended (Delete <Bos>, SMLLE, 2.2.1, equation 3). Every step then sees a phone some steps
ahead of its token. The delay this costs is the silence before speech, which is spoken anyway.
Invariant: what step t is given depends on the tokens alone, never on when they came.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import dropwhile


def delete_bos(phones: Sequence[int], begin: int, end: int) -> list[int]:
    """X' of a whole text without its leading `begin`; of the same length, thanks to `end`."""
    rest = list(dropwhile(lambda phone: phone == begin, phones))
    return [*rest, *[end] * (len(phones) - len(rest))]


@dataclass
class Aligned:
    """The tokens of one passage so far, each with the phone it was predicted at."""

    begin: int
    end: int
    delete_bos: bool
    closed: bool = False  # no token follows
    tokens: list[int] = field(default_factory=list)
    phones: list[int] = field(default_factory=list)
    _lead: int | None = None  # begin marks deleted; None = no phone has a token yet

    def add(self, token: int, phone: int) -> None:
        """The next token, predicted at this phone."""
        if self._lead is None and (phone != self.begin or not self.delete_bos):
            self._lead = len(self.tokens) if self.delete_bos else 0
        self.tokens.append(token)
        self.phones.append(phone)

    def has(self, step: int) -> bool:
        """Whether the phone that this step is given is known."""
        if self.closed:
            return step < len(self.tokens)
        return self._lead is not None and step + self._lead < len(self.tokens)

    def phone(self, step: int) -> int:
        """The phone that a step is given; has() must be true of it."""
        lead = len(self.phones) if self._lead is None else self._lead  # None: nothing but silence
        place = step + lead
        return self.phones[place] if place < len(self.phones) else self.end
