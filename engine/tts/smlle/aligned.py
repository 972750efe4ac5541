"""The text as long as the speech: which phone every step of the spectrum hears.

The transducer says tokens while it reads phones; each phone repeated for its tokens is the aligned
text X'. Of it the beginning marks are taken away and as many end marks put behind (Delete <Bos>,
SMLLE, 2.2.1, equation 3): every step then hears the phone some steps ahead, for the price of the
silence before speech, which is spoken anyway.
Invariant: what step t hears depends on the tokens alone, never on when they came.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field


def delete_bos(phones: Sequence[int], begin: int, end: int) -> list[int]:
    """X' of a whole text without its leading `begin`, as long as before."""
    lead = leading(phones, begin)
    return [*phones[lead:], *[end] * lead]


def leading(phones: Sequence[int], begin: int) -> int:
    """How many `begin` stand first."""
    lead = 0
    while lead < len(phones) and phones[lead] == begin:
        lead += 1
    return lead


@dataclass
class Aligned:
    """Tokens of one passage with the phone that said each, while they come."""

    begin: int
    end: int
    delete_bos: bool
    closed: bool = False  # no token follows
    tokens: list[int] = field(default_factory=list)
    phones: list[int] = field(default_factory=list)
    _lead: int | None = None  # marks taken away; None = not known before a phone has spoken

    def add(self, token: int, phone: int) -> None:
        """The next token, said at this phone."""
        if self._lead is None and (phone != self.begin or not self.delete_bos):
            self._lead = len(self.tokens) if self.delete_bos else 0
        self.tokens.append(token)
        self.phones.append(phone)

    def has(self, step: int) -> bool:
        """Whether all that this step hears is known."""
        if self.closed:
            return step < len(self.tokens)
        return self._lead is not None and step + self._lead < len(self.tokens)

    def phone(self, step: int) -> int:
        """What a step hears that has() is true of."""
        lead = len(self.phones) if self._lead is None else self._lead  # None: nothing but silence
        place = step + lead
        return self.phones[place] if place < len(self.phones) else self.end
