"""When each word of a reply was heard: from what the loudspeaker's count told while it played.

Invariant: the times never decrease, and a word ends no later than the next one begins. Without a
loudspeaker words can only be read, and have no times.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from engine.export.conversation import HeardWord
from engine.runtime.turn.facts import Delivery, WordBegan
from engine.text.word import Word


def so_far(onsets: Sequence[WordBegan], zero_at: float) -> tuple[HeardWord, ...]:
    """The words of a reply that goes on, in seconds after `zero_at`; the last has no length yet."""
    starts = _starts(onsets)
    return tuple(
        _heard(each.word, start - zero_at, end - zero_at)
        for each, start, end in zip(onsets, starts, [*starts[1:], *starts[-1:]], strict=True)
    )


def delivered(
    delivery: Delivery, onsets: Sequence[WordBegan], zero_at: float
) -> tuple[HeardWord, ...]:
    """The words that reached the ear, in seconds after `zero_at`.

    A word lasts as long as its samples: a pause in which the ring was empty belongs to none. The
    last word before a cut may not have been `told`; it follows the one before it.
    """
    marks_ms = (*delivery.onsets_ms, delivery.speech_ms)
    lengths_s = [(end - start) / 1000 for start, end in pairwise(marks_ms)]
    words: list[HeardWord] = []
    starts = _starts(onsets)
    end_at = starts[0] if starts else zero_at
    for number, (word, length_s) in enumerate(zip(delivery.words, lengths_s, strict=True)):
        start_at = starts[number] if number < len(starts) else end_at
        end_at = min([start_at + length_s, *starts[number + 1 : number + 2]])
        words.append(_heard(word, start_at - zero_at, end_at - zero_at))
    return tuple(words)


def _starts(onsets: Sequence[WordBegan]) -> list[float]:
    """A device that plays in bursts makes a word seem to begin before the one ahead of it."""
    return list(accumulate((each.at for each in onsets), max))


def _heard(word: Word, start_s: float, end_s: float) -> HeardWord:
    return HeardWord(word.text, word.start, word.end, start_s, end_s)
