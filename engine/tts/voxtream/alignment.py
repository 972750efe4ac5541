"""Position of the voice in the phones. Duration tokens move it, and rules decide the end.

Indices count phones from the prompt's first column. The rules follow the released implementation
except where it fails (noted at each place). Invariant: the cursor never moves back, and it never
ends while more text may come.
"""

from collections import Counter
from dataclasses import dataclass

from engine.tts.voxtream.config import DurationToken, VoxtreamGeneration

LAST_PHONES = 2  # the end rule watches the last two phones


@dataclass(frozen=True)
class Span:
    """The phones of a frame, from `first` to `last`. `ended`: the text is over, one more frame
    follows.
    """

    first: int
    last: int
    ended: bool = False


class AlignmentCursor:
    """A cursor on the last phone of the previous frame."""

    def __init__(
        self, start: int, tokens: tuple[DurationToken, ...], generation: VoxtreamGeneration
    ) -> None:
        self.last = start
        self._tokens = tokens
        self._generation = generation
        self._visits: Counter[tuple[int, int]] = Counter()
        self._first = start  # phone at the start of the last frame
        self._frames = 0  # that start with this phone

    def advance(self, token: int, total: int, *, closed: bool, inside_word: bool = False) -> Span:
        """Move by a duration token. `total`: known phones; `closed`: no more will come;
        `inside_word`: the current phone is not the last of its word.

        When closed, index `total` is the silence behind the text and `total` + 1 its end mark.
        """
        step = self._tokens[token]
        start = self.last + step.shift
        if inside_word and start == self._first:
            start += self._frames >= self._generation.frames_in_word
        # The released rule pushes once, into any state, and compares the visits near the end with
        # ==. So a state with more visits from before the end was known stays for 2 s. Here a state
        # with too many visits is never entered.
        while self._worn((start, start + step.phones), total, closed=closed):
            start += 1
        self._visits[(start, start + step.phones)] += 1
        span = Span(start, start + step.phones - 1)
        if closed and start >= total:
            end = min(start, total + 1)
            span = Span(end, end, ended=True)
        self._frames = self._frames + 1 if span.first == self._first else 1
        self._first, self.last = span.first, span.last
        return span

    def _worn(self, state: tuple[int, int], total: int, *, closed: bool) -> bool:
        visits = self._visits[state]
        # While text may still come, the last known phones are not the end (in the released rule
        # they are).
        if closed and state[0] >= total:
            return False
        at_end = closed and state[0] >= total - LAST_PHONES
        if at_end and visits >= self._generation.repeats_at_end:
            return True
        return visits > self._generation.repeats_before_push
