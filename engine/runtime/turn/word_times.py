"""The time when each word of a reply was heard, from the loudspeaker's count during playback.

Invariant: the times never decrease, and a word ends no later than the next one begins. Without a
loudspeaker words can only be read, and have no times.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from engine.messages.conversations import HeardWord
from engine.runtime.turn.facts import Delivery, WordBegan
from engine.text.word import Word


def so_far(onsets: Sequence[WordBegan], zero_at: float) -> tuple[HeardWord, ...]:
    """Return a running reply's words, in seconds after `zero_at`; the last has no length yet."""
    starts = _starts(onsets)
    return tuple(
        _heard(each.word, start - zero_at, end - zero_at)
        for each, start, end in zip(onsets, starts, [*starts[1:], *starts[-1:]], strict=True)
    )


def delivered(
    delivery: Delivery, onsets: Sequence[WordBegan], zero_at: float
) -> tuple[HeardWord, ...]:
    """Return the words that reached the ear, in seconds after `zero_at`.

    A word lasts as long as its samples; a pause of an empty ring belongs to no word. The last word
    before a cut may not have been reported; it follows the one before it.
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
    """Make the times ascend: a device that plays in bursts may report a word too early."""
    return list(accumulate((each.at for each in onsets), max))


def _heard(word: Word, start_s: float, end_s: float) -> HeardWord:
    return HeardWord(word.text, word.start, word.end, start_s, end_s)
