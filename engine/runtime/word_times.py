"""When each word of a reply was heard: from what the loudspeaker's count told while it played.

Invariant: the times never decrease, and a word ends no later than the next one begins.
"""

from collections.abc import Sequence
from itertools import pairwise

from engine.export.conversation import HeardWord
from engine.runtime.happenings import Delivery, WordBegan
from engine.text.word import Word


def so_far(told: Sequence[WordBegan], zero_at: float) -> tuple[HeardWord, ...]:
    """The words of a reply that goes on, in seconds after `zero_at`; the last has no length yet."""
    ends = [each.at for each in (*told[1:], *told[-1:])]
    return tuple(
        _heard(each.word, each.at - zero_at, end - zero_at)
        for each, end in zip(told, ends, strict=True)
    )


def delivered(
    delivery: Delivery, told: Sequence[WordBegan], zero_at: float
) -> tuple[HeardWord, ...]:
    """The words that reached the ear, in seconds after `zero_at`.

    A word lasts as long as its samples: a pause in which the ring was empty belongs to none. The
    last word before a cut may not have been `told`; it follows the one before it.
    """
    marks_ms = (*delivery.onsets_ms, delivery.speech_ms)
    lengths_s = [(end - start) / 1000 for start, end in pairwise(marks_ms)]
    words: list[HeardWord] = []
    end_at = told[0].at if told else zero_at
    for number, (word, length_s) in enumerate(zip(delivery.words, lengths_s, strict=True)):
        start_at = told[number].at if number < len(told) else end_at
        following_at = told[number + 1].at if number + 1 < len(told) else start_at + length_s
        end_at = max(start_at, min(start_at + length_s, following_at))
        words.append(_heard(word, start_at - zero_at, end_at - zero_at))
    return tuple(words)


def _heard(word: Word, start_s: float, end_s: float) -> HeardWord:
    return HeardWord(word.text, word.start, word.end, start_s, end_s)
