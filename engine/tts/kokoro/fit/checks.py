"""Checks of recordings before a fit, and of voices after it.

Invariant: a refused recording costs no fit, and a fit that is worse than the blend by these checks
is never offered; each reason is a sentence for the person.
"""

from collections.abc import Callable
from difflib import SequenceMatcher
from typing import Final

import numpy as np

from engine.audio.clips.clip import Clip, judge
from engine.errors import InvalidInput, UnreadableClip
from engine.translatable import Translatable
from engine.tts.base import Pcm, Voice
from engine.tts.kokoro.fit.measuring import (
    CEPSTRA,
    Alignment,
    Numbers,
    bandwidth,
    cepstra,
    pitch_of,
    sounding,
)
from engine.tts.kokoro.parts import SAMPLE_RATE
from engine.tts.kokoro.voices import LONGEST_SHIFT, SHIFT, STYLE, TIMBRE
from engine.tts.speaker import recording as recordings
from engine.tts.speaker.recording import resampled

Hear = Callable[[Pcm, int], str]  # samples and their rate, to a transcript

SENTENCES: Final = (
    "Nobody on the shore saw the boat leave the harbour in the early morning.",
    "A quick brown fox jumped over the lazy dog, and every child enjoyed the music of the village.",
    "We could meet them at the station after work and walk home together through the park.",
)
_FORGIVEN: Final = 0.05  # of the words: two
_ENOUGH_S: Final = 3.0
_NARROW_HZ: Final = 5_000.0
# The distance of two parts of a clip is that of their mean cepstra, in the parts' own covariance:
# at most 2.13 in 38 clips of 19 people and in 57 with noise, by telephone and fading; more in joins
# of two people (two women 66 %, two men 79 %, a woman and a man 90 % of 342). The change of
# recording may add to that: 2 of 54 joins of one person's utterances exceed it, too. Speaker
# vectors had 9 false alarms in the 38. The pitches (medians of logarithms) of one person differ by
# 0 to 0.3.
_FAR_APART, _PITCH_APART = 2.2, 0.3
_SHORTEST_PART, _STRIDE = 200, 40  # of STEP, 12.5 ms
_QUIET: Final = 40  # percentile of the level; louder rows are compared
_FEWEST_ROWS: Final = 60
_FEWEST_WORDS: Final = 4
_SHARED: Final = 0.5  # of the words, between the given text and the transcript
# Length of the text as the blend says it, over the clip's speech: 0.52 to 1.18 for complete texts
# (19 people), 0.25 to 0.39 for halves (five people).
_LENGTHS: Final = (0.45, 1.6)
# An alignment's distance, and 0.3 times the share of symbols of the shortest length: -0.08 to 0.10
# of right texts, 0.14 to 0.23 of other ones (19 people, ten seconds each). Without the distance in
# other orders it was 1.02 to 1.38 and 1.39 to 1.54.
_SHORT_WEIGHT, _FARTHEST = 0.3, 0.12
_LOUDER: Final = (0.5, 2.0)  # level over the blend's
_FULL_SCALE: Final = 1.5  # samples beyond are cut off


def check_recording(clip: Pcm, sample_rate: int) -> str:
    """Return advice on the recording, or empty. UnreadableClip if it is unsuitable."""
    report = judge(Clip(clip, sample_rate))
    if not report.usable:
        raise UnreadableClip(report.advice)
    recording = recordings.read(clip, sample_rate)
    seconds = len(recording.speech) / sample_rate
    if seconds < _ENOUGH_S:
        raise UnreadableClip(
            "Only {seconds} s of speech were found in the recording.",
            hint="A voice is learnt from 3 s or more of one person; ten are better.",
            seconds=f"{seconds:.1f}",
        )
    apart = _parts_apart(resampled(recording.speech, sample_rate, SAMPLE_RATE))
    if max(apart, default=0.0) > _PITCH_APART:
        raise UnreadableClip(
            "More than one person seems to speak in the recording.",
            hint="Cut out a part in which one person speaks.",
        )
    if bandwidth(resampled(clip, sample_rate, SAMPLE_RATE)) < _NARROW_HZ:
        return Translatable("It sounds like a telephone: a better microphone gives a better voice.")
    if not report.advice and apart:
        return Translatable("More than one person may speak in it: the voice would be a mixture.")
    return report.advice


def _parts_apart(speech: Pcm) -> list[float]:
    """Divide the speech at each of several places. For each place at which the two parts sound like
    two people, return the difference of their log pitch.
    """
    rows, pitch = cepstra(speech)[:, :CEPSTRA], pitch_of(speech)
    loud = rows[:, 0] > np.percentile(rows[:, 0], _QUIET)
    found = []
    for place in range(_SHORTEST_PART, len(rows) - _SHORTEST_PART + 1, _STRIDE):
        parts = slice(0, place), slice(place, None)
        if _distance(*(rows[part][loud[part], 1:] for part in parts)) > _FAR_APART:
            voiced = [each[each > 0] for each in (pitch[part] for part in parts)]
            medians = [np.median(np.log(each)) for each in voiced if len(each)]
            found.append(float(np.ptp(medians)) if medians else 0.0)
    return found


def _distance(one: Numbers, other: Numbers) -> float:
    """Return the Mahalanobis distance between the means of two sets of rows; 0 for few rows."""
    if min(len(one), len(other)) < _FEWEST_ROWS:
        return 0.0
    apart = one.mean(0) - other.mean(0)
    spread = np.average([np.cov(each.T) for each in (one, other)], 0, [len(one), len(other)])
    return float(np.sqrt(apart @ np.linalg.solve(spread, apart)))


def check_text(given: str, understood: str | None) -> None:
    """Raise InvalidInput if the text is too short, or differs too much from `understood`, Whisper's
    transcript of the recording (None without Whisper).
    """
    if len(_words(given)) < _FEWEST_WORDS:
        raise InvalidInput(
            "Too few words were understood in the recording.",
            hint="Record a sentence of English, or give the text that is spoken.",
        )
    if understood is not None and _shared(given, understood) < _SHARED:
        raise _wrong_text()


def check_alignment(seconds: float, clip_s: float, found: Alignment) -> None:
    """Raise InvalidInput if the text does not fit the recording. `seconds`: the length of the text
    as the blend speaks it; `clip_s`: that of the clip's speech.
    """
    short = float((found.frames[1:-1] <= 1).mean())
    far = found.distance + _SHORT_WEIGHT * short > _FARTHEST
    crowded = found.frames.min() < 1
    if far or crowded or not _LENGTHS[0] <= seconds / max(clip_s, 0.1) <= _LENGTHS[1]:
        raise _wrong_text()


def _wrong_text() -> InvalidInput:
    return InvalidInput(
        "The text does not fit the recording.",
        hint="Give exactly the words that are spoken, all of them, or make a clearer recording.",
    )


def fault(blend: Voice, learnt: Voice, say: Callable[[Voice, str], Pcm], hear: Hear | None) -> str:
    """Return the reason for not offering a learnt voice; empty if there is none. `say` speaks a
    text at 24 kHz, `hear` transcribes samples.
    """
    timbres = (each.tensors[STYLE].reshape(-1)[:TIMBRE] for each in (blend, learnt))
    moved = np.vstack([np.subtract(*timbres), learnt.tensors[SHIFT]])
    if not np.linalg.norm(moved, axis=1).max() < LONGEST_SHIFT:
        return Translatable("The learnt voice is too far from the voices that Kokoro knows.")
    before, after = (
        np.concatenate([say(voice, each) for each in SENTENCES]) for voice in (blend, learnt)
    )
    levels = [np.sqrt(sounding(pcm)[0]) for pcm in (before, after)]
    loud = _LOUDER[0] * levels[0] <= levels[1] <= _LOUDER[1] * levels[0]
    if not (np.isfinite(after).all() and loud and np.abs(after).max() < _FULL_SCALE):
        return Translatable("The learnt voice is too quiet or too loud.")
    if hear is not None:
        text = " ".join(SENTENCES)
        shares = [_shared(text, hear(pcm, SAMPLE_RATE)) for pcm in (before, after)]
        if shares[1] < shares[0] - _FORGIVEN:
            return Translatable("The words of the learnt voice are understood less well.")
    return ""


def _shared(text: str, other: str) -> float:
    """Return the share of words that two texts have in common, in the same order."""
    one, two = _words(text), _words(other)
    blocks = SequenceMatcher(None, one, two, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / max(1, len(one), len(two))


def _words(text: str) -> list[str]:
    plain = "".join(each if each.isalnum() or each.isspace() else " " for each in text.casefold())
    return plain.split()
