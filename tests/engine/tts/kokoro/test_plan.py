"""Plans of a sentence: the whole has the rate asked for, and pauses where it has them."""

import numpy as np
import pytest

from engine.tts.kokoro.source import FRAME, SAMPLE_RATE
from tests.engine.tts.kokoro.words import phoned, planned, wish

WORDS = phoned("Of the many people who asked, only one was right: it is late.")
SECONDS = FRAME / SAMPLE_RATE


@pytest.mark.parametrize("rate", [3.0, 3.6, 4.2])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_sentence_planned_bit_by_bit_has_its_rate(rate, share):
    """To a frame, however much of each plan was rendered before the next."""
    plan = planned(wish(WORDS[:2], rate, closed=False))
    done = plan.first
    for known in (4, 7, 10, len(WORDS)):
        done += int(share * (plan.limit - done))
        plan = planned(wish(WORDS[:known], rate, closed=known == len(WORDS)), plan, done)
    syllables = sum(word.syllables for word in WORDS)
    spoken = plan.edges[-2] - plan.edges[0]  # to the last mark
    assert spoken * SECONDS == pytest.approx(syllables / rate, abs=3 * SECONDS)


def test_only_silence_is_behind_the_limit_and_a_last_word_waits_for_what_follows():
    whole, begun = planned(wish(WORDS, 4.0)), planned(wish(WORDS[:4], 4.0, closed=False))
    assert whole.edges[-2] <= whole.limit < whole.edges[-2] + 8
    assert begun.first < begun.limit < begun.onsets[-1]


def test_silences_are_between_the_words_and_as_long_as_their_pauses():
    plan = planned(wish(WORDS, 1.5))
    assert len(plan.silences) >= 3
    starts = plan.edges[np.array(plan.script.ends, np.int64)]
    for frame in plan.silences:
        word = int(np.searchsorted(plan.onsets, frame)) - 1
        assert starts[word] <= frame <= plan.onsets[word + 1]
    syllables = sum(word.syllables for word in WORDS)
    total = plan.edges[-2] - plan.edges[0] + sum(plan.silences.values())
    assert total * SECONDS == pytest.approx(syllables / 1.5, rel=0.05)
