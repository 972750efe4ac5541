"""The meter of the speaking rate."""

from collections.abc import Iterable

import numpy as np
import pytest

from engine.tts.rate import SyllableMeter


def test_it_counts_syllables_over_its_window():
    meter = SyllableMeter(12.5, window=10)
    assert meter.recent_rate(1) is None
    meter.add(1)
    assert meter.recent_rate(2) == pytest.approx(1 / 0.16)
    assert meter.recent_rate(11) == pytest.approx(1 / 0.8)
    assert meter.recent_rate(12) == 0.0


def metered(meter: SyllableMeter, ends: Iterable[float], now: float) -> list[float | None]:
    """Rates since the last change and over the utterance, after syllables that end at `ends` s."""
    for end in ends:
        meter.add(round(end * 1000))
    return [None if each is None else round(each, 2) for each in meter.rates(round(now * 1000))]


def test_the_rate_is_that_of_the_speech_without_the_silence_around_it():
    meter = SyllableMeter(1000)
    meter.restart(0)
    meter.begin_word(500)
    assert metered(meter, 0.5 + np.arange(1, 21) / 5, 4.5) == [5.0, 5.0]
    assert metered(meter, (), 9.0) == [5.0, 5.0]


def test_a_pause_counts_when_the_next_word_begins():
    meter = SyllableMeter(1000)
    assert metered(meter, np.arange(1, 11) / 5, 3.0) == [5.0, 5.0]
    meter.begin_word(3000)
    assert metered(meter, 3 + np.arange(1, 11) / 5, 3.1) == [round(10.5 / 3.1, 2)] * 2
    assert metered(meter, (), 5.0) == [4.0, 4.0]


def test_a_syllable_whose_end_is_only_expected_counts_as_far_as_it_sounds():
    meter = SyllableMeter(1000)
    metered(meter, (0.5, 1.0, 1.5), 1.5)
    meter.expect(2500)
    assert metered(meter, (), 2.0) == [1.75, 1.75]
    assert metered(meter, (2.1,), 2.1) == [round(4 / 2.1, 2)] * 2
    assert metered(meter, (), 3.0) == [round(4 / 2.1, 2)] * 2


def test_too_little_speech_has_no_rate():
    meter = SyllableMeter(1000)
    assert metered(meter, (1.9,), 3.0) == [None, None]
    meter = SyllableMeter(1000)
    assert metered(meter, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6), 3.0) == [None, None]


def test_a_branch_counts_for_itself():
    meter = SyllableMeter(1000)
    metered(meter, np.arange(1, 11) / 5, 2.0)
    other = meter.branch()
    metered(meter, 2 + np.arange(1, 5) / 1, 6.0)
    assert metered(other, 2 + np.arange(1, 11) / 5, 4.0) == [5.0, 5.0]
