"""The text stretched to the length of the speech: one phone for each step of the spectrum.

The transducer predicts tokens while it reads phones. Each phone, repeated once for every token
predicted at it, gives the aligned text X' (SMLLE, 2.2.1). The paper deletes its leading begin marks
(Delete <Bos>), so that a step sees a phone some steps ahead of its token; here that made the speech
worse. Invariant: the phone of step t depends on the tokens alone, never on when they came.
"""

from dataclasses import dataclass, field


@dataclass
class Aligned:
    """The tokens of one passage so far, each with the phone at which it was predicted."""

    end: int
    closed: bool = False  # no token follows
    tokens: list[int] = field(default_factory=list)
    phones: list[int] = field(default_factory=list)

    def add(self, token: int, phone: int) -> None:
        """Append a token that was predicted at this phone."""
        self.tokens.append(token)
        self.phones.append(phone)

    def has(self, step: int) -> bool:
        """Return True if the phone of this step is known."""
        return step < len(self.tokens)

    def phone(self, step: int) -> int:
        """Return the phone of a step, or the end mark after the last step."""
        return self.phones[step] if step < len(self.phones) else self.end
