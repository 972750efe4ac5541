"""Where in an utterance its sound ended, found by ear."""

import numpy as np

from engine.audio.base import Pcm
from engine.tts.base import Onset
from tests.simulation.overheard import HeardWords, Said, heard_words
from tests.simulation.room import RATE

STEP_S = 0.25  # between the words


def said() -> Said:
    """Four seconds that are nowhere alike, with a word every STEP_S."""
    pcm = 0.1 * np.random.default_rng(1).standard_normal(4 * RATE)
    onsets = [Onset(word, round(word * STEP_S * RATE)) for word in range(16)]
    return Said(RATE, [pcm.astype(np.float32)], onsets)


def silence(seconds: float) -> Pcm:
    return np.zeros(round(seconds * RATE), np.float32)


def test_the_words_before_the_end_were_heard() -> None:
    spoken = said()
    played = np.concatenate([spoken.pcm[0][: int(1.6 * RATE)], silence(0.5)])
    assert heard_words(spoken, played) == [HeardWords(7, 7)]


def test_a_reply_that_was_paused_and_went_on_quietly_ended_where_it_ended() -> None:
    spoken = said()
    pcm = spoken.pcm[0]
    before, after = pcm[: int(1.6 * RATE)], 0.2 * pcm[int(1.6 * RATE) : int(2.1 * RATE)]
    played = np.concatenate([before, silence(0.5), after])
    assert heard_words(spoken, played) == [HeardWords(9, 9)]


def test_of_what_is_said_twice_both_places_are_told() -> None:
    once = said()
    again = [Onset(16 + onset.word, 4 * RATE + onset.sample) for onset in once.onsets]
    twice = Said(RATE, once.pcm * 2, once.onsets + again)
    played = np.concatenate([once.pcm[0][: int(1.6 * RATE)], silence(0.5)])
    assert heard_words(twice, played) == [HeardWords(7, 7), HeardWords(23, 23)]


def test_another_sound_is_not_recognised() -> None:
    other = np.random.default_rng(2).standard_normal(2 * RATE).astype(np.float32)
    assert heard_words(said(), other) == []
