"""Find the samples of one piece in the speech of its context.

Invariant: the end of a piece in one context and the start of the next piece in the next context are
found by the same rule, so consecutive cuts neither lose nor repeat a sound.
"""

from dataclasses import dataclass
from itertools import accumulate, pairwise

from engine.text.phonemes import is_nucleus
from engine.tts.espeak.joining import Span
from engine.tts.espeak.library import Speech
from engine.tts.espeak.phrasing import Context


@dataclass(frozen=True)
class Cut:
    """A piece in the speech of its context. `syllables`: the samples at which its syllables end:
    the last one with the piece, others before the one consonant, or half of several, behind them.
    """

    span: Span
    syllables: tuple[int, ...]


def cut(speech: Speech, context: Context) -> Cut | None:
    """Find the piece's samples in the speech of its context; None if the piece is silent."""
    onsets = _onsets(speech, context.tokens, _last_sound(speech))
    start, end = onsets[context.target], onsets[context.target + 1]
    if end <= start:
        return None
    phones = [pair for pair in pairwise(speech.phones) if start <= pair[0].sample < end]
    vowels = [place for place, (phone, _) in enumerate(phones) if is_nucleus(phone.ipa)]
    last = [phones[one + (other - one - 1) // 2][1] for one, other in pairwise(vowels)]
    syllables = (*(following.sample - start for following in last), end - start) if vowels else ()
    return Cut(Span(speech.pcm, start, end), syllables)


def _last_sound(speech: Speech) -> int:
    """Return the sample at which the last phone that is not a pause ends."""
    end = 0
    for phone, following in pairwise(speech.phones):
        if phone.ipa:
            end = following.sample
    return min(end, len(speech.pcm))


def _onsets(speech: Speech, tokens: tuple[str, ...], end_of_speech: int) -> list[int]:
    """Return the first sample of each token, and the end of the speech after the last one."""
    starts = [0, *accumulate(len(token) + 1 for token in tokens)]
    marks: list[list[int]] = [[] for _ in tokens]
    place = 0
    for mark in speech.words:
        while place + 1 < len(tokens) and mark.character >= starts[place + 1]:
            place += 1
        marks[place].append(mark.sample)
    onsets = [samples[0] if samples else -1 for samples in marks] + [end_of_speech]
    onsets[0] = 0
    for token, following in _merged(onsets):
        _divide(speech, tokens, (token, following), onsets, marks[token])
    return onsets


def _merged(onsets: list[int]) -> list[tuple[int, int]]:
    """Return runs [token, following) that espeak spoke as one: 'of the', 'such as', 'it is'."""
    places = [place for place, onset in enumerate(onsets) if onset >= 0]
    return [(token, following) for token, following in pairwise(places) if following > token + 1]


def _divide(
    speech: Speech,
    tokens: tuple[str, ...],
    run: tuple[int, int],
    onsets: list[int],
    marks: list[int],
) -> None:
    """Set the onsets of the tokens inside a run that espeak spoke as one: espeak's own marks if
    there is one for each token, else phone boundaries in proportion to the letters.
    """
    token, following = run
    inside = range(token + 1, following)
    if len(marks) == following - token:
        for place, sample in zip(inside, marks[1:], strict=True):
            onsets[place] = sample
        return
    first, last = onsets[token], onsets[following]
    letters = list(accumulate(len(word) for word in tokens[token:following]))
    boundaries = [p.sample for p in speech.phones if first < p.sample < last] or [last]
    for place, letters_before in zip(inside, letters, strict=False):
        target = first + (last - first) * letters_before // letters[-1]
        onsets[place] = max(
            onsets[place - 1], min(boundaries, key=lambda sample: abs(sample - target))
        )
