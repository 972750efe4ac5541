"""A small language model of the sentences that people say to the built-in skills.

Trigrams with absolute discounting and back-off (Jurafsky and Martin, Speech and Language
Processing, chapter 3), written in the ARPA format of pocketsphinx. Invariant: for each history, the
probabilities of the next word sum to one.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

ORDER = 3
DISCOUNT = 0.7  # taken off each count for unseen words: 0.3 to 0.8 differ by less than 1 % of words
START, END = "<s>", "</s>"
IMPOSSIBLE = -99.0  # log10: the start is never predicted
MAX_PHRASES = 20_000
MAX_WORDS = 30

History = tuple[str, ...]
_PHRASE = re.compile(r"[a-z']+( [a-z']+)*")


class PhraseModel:
    """Trigram model of phrases; `words` is its vocabulary."""

    def __init__(self, phrases: Iterable[str]) -> None:
        """Learn lower-case sentences of letters, apostrophes and single spaces. Other sentences,
        and everything above MAX_PHRASES or MAX_WORDS, are ignored.
        """
        learnt = list(islice(filter(usable, phrases), MAX_PHRASES))
        self.size = len(learnt)
        # followers[history][word] = count; a history has 0, 1 or 2 words
        self._followers: dict[History, dict[str, int]] = {(): {}}
        # Each run of 1 to ORDER words, including runs across phrases, which are left out.
        words = [word for phrase in learnt for word in (START, *phrase.split(), END)]
        grams: Counter[tuple[str, ...]] = Counter()
        for order in range(1, ORDER + 1):
            grams.update(zip(*(words[first:] for first in range(order)), strict=False))
        for gram, count in grams.items():
            history, word = gram[:-1], gram[-1]
            if END not in history and word != START and START not in gram[1:-1]:
                self._followers.setdefault(history, {})[word] = count
        self._totals = {history: sum(each.values()) for history, each in self._followers.items()}
        self.words = tuple(sorted(set(self._followers[()]) - {END}))

    def unseen(self, words: Iterable[str]) -> int:
        """Count the word transitions, including start and end, that occur in no phrase."""
        sentence = [START, *words, END]
        return sum(not self._seen(sentence, place) for place in range(1, len(sentence)))

    def likely_start(self, words: Sequence[str], *, unseen: int) -> int:
        """Return how many of the first words contain at most `unseen` such transitions."""
        sentence = [START, *words]
        for place in range(1, len(sentence)):
            unseen -= not self._seen(sentence, place)
            if unseen < 0:
                return place - 1
        return len(words)

    def goes_on(self, words: Sequence[str]) -> bool:
        """Return whether a phrase continues after the last two of these words."""
        history = tuple([START, *words][-(ORDER - 1) :])
        return any(word != END for word in self._followers.get(history, ()))

    def log10(self, word: str, history: History) -> float:
        """Return log10 of the probability that `word` follows `history` (at most two words)."""
        followers = self._followers.get(history)
        if followers is None:
            return self.log10(word, history[1:])
        if word in followers:  # it did follow this history
            taken = self._taken(history)
            return math.log10((followers[word] - taken) / self._totals[history])
        if not history:
            return IMPOSSIBLE
        return self._back_off(history) + self.log10(word, history[1:])

    def write(self, file: Path) -> None:
        """Write the model as ARPA text."""
        file.write_text("\n".join(self._lines()) + "\n", encoding="ascii")

    def _seen(self, sentence: Sequence[str], place: int) -> bool:
        """Return whether a phrase has this word after the two words before it."""
        history = tuple(sentence[max(0, place - ORDER + 1) : place])
        return sentence[place] in self._followers.get(history, ())

    def _taken(self, history: History) -> float:
        """Return the discount of each count after `history`; 0 if every word was seen there."""
        complete = len(self._followers[history]) == len(self._followers[()])
        return 0.0 if complete else DISCOUNT

    def _back_off(self, history: History) -> float:
        """Return log10 of the factor for words that never followed `history`."""
        followers = self._followers[history]
        free = self._taken(history) * len(followers) / self._totals[history]
        if free == 0.0:
            return IMPOSSIBLE
        shorter = history[1:]  # every follower of a history also follows its shorter end
        counts = self._followers[shorter]
        taken = self._taken(shorter)
        seen = sum(counts[word] - taken for word in followers) / self._totals[shorter]
        return math.log10(free / (1.0 - seen))

    def _lines(self) -> Iterator[str]:
        histories = sorted(self._followers)
        orders = [[h for h in histories if len(h) == order] for order in range(ORDER)]
        sizes = [sum(len(self._followers[h]) for h in histories) for histories in orders]
        yield "\\data\\"
        for order, size in enumerate(sizes, start=1):
            yield f"ngram {order}={size + (order == 1)}"  # the start is not counted in `sizes`
        for order, histories in enumerate(orders, start=1):
            yield f"\n\\{order}-grams:"
            if order == 1:
                yield f"{IMPOSSIBLE} {START} {self._weight((START,)):.4f}"
            for history in histories:
                taken, total = self._taken(history), self._totals[history]
                for word, count in sorted(self._followers[history].items()):
                    longer = (*history, word)
                    entry = f"{math.log10((count - taken) / total):.4f} {' '.join(longer)}"
                    yield f"{entry} {self._weight(longer):.4f}" if order < ORDER else entry
        yield "\n\\end\\"

    def _weight(self, history: History) -> float:
        return self._back_off(history) if history in self._followers else 0.0


@lru_cache(maxsize=1)
def learn_phrases(phrases: tuple[str, ...]) -> PhraseModel:
    """Return the model of these phrases, cached (0.1 s) for the recogniser and the completeness
    estimator. It is not modified after that.
    """
    return PhraseModel(phrases)


def usable(phrase: str) -> bool:
    """Return whether a phrase has the required form."""
    return bool(_PHRASE.fullmatch(phrase)) and phrase.count(" ") < MAX_WORDS
