"""Targets in syllables per second become paces espeak can do."""

import pytest

from engine.tts.espeak.library import SAMPLE_RATE
from engine.tts.espeak.pace import OWN_RATE, RATE_RANGE, Pace, Pacer, pace_for
from engine.tts.rate import SyllableMeter


def test_own_pace_is_espeaks_default() -> None:
    assert Pacer().pace(None) == pace_for(OWN_RATE) == Pace(175)


def test_a_words_own_pace_moves_the_own_pace_too() -> None:
    assert Pacer().pace(None, 0.8).words_per_minute == 140


def test_a_words_pace_stays_within_the_slider() -> None:
    assert Pacer().pace(1.0, 0.7) == pace_for(1.0)
    assert Pacer().pace(7.0, 1.2) == pace_for(7.0)
    assert Pacer().pace(4.0, 0.75) == pace_for(3.0)


def test_nobody_hurries_to_make_up_for_a_slow_word() -> None:
    pacer = Pacer()
    pacer.pace(4.0, 0.5)
    pacer.note(syllables=8, samples=4 * SAMPLE_RATE)  # two a second, as it was meant
    assert pacer.pace(4.0) == pace_for(4.0)


@pytest.mark.parametrize("rate", [1.0, 1.5, 2.0, 3.0, 6.0, 9.0])
def test_espeak_is_asked_only_for_what_it_can_do(rate: float) -> None:
    assert 80 <= pace_for(rate).words_per_minute <= 450


def test_below_espeaks_slowest_the_wave_is_stretched_then_gaps_are_left() -> None:
    assert pace_for(3.0).stretch == 1.0
    assert 1.0 < pace_for(1.8).stretch < 1.6
    assert pace_for(1.8).gap == 0.0
    assert pace_for(1.0).stretch == 1.6
    assert pace_for(1.0).gap > 0.2 * SAMPLE_RATE


def test_a_slower_target_never_gives_a_faster_pace() -> None:
    slowness = [
        (
            pace_for(rate / 10).words_per_minute,
            -pace_for(rate / 10).stretch,
            -pace_for(rate / 10).gap,
        )
        for rate in range(10, 91)
    ]
    assert slowness == sorted(slowness)


def test_what_was_too_slow_makes_the_next_piece_faster_and_the_pause_shorter() -> None:
    pacer = Pacer()
    steady = pacer.pace(4.0)
    pacer.note(syllables=1, samples=SAMPLE_RATE)
    hurried = pacer.pace(4.0)
    assert hurried.words_per_minute > steady.words_per_minute
    assert hurried.pause < steady.pause


def test_the_correction_has_bounds() -> None:
    late, early = Pacer(), Pacer()
    late.pace(4.0)
    early.pace(4.0)
    late.note(syllables=0, samples=100 * SAMPLE_RATE)
    early.note(syllables=1000, samples=1)
    assert late.pace(4.0).words_per_minute < 1.5 * pace_for(4.0).words_per_minute
    assert early.pace(4.0).words_per_minute > 0.5 * pace_for(4.0).words_per_minute


def test_a_new_target_forgets_the_old_debt() -> None:
    pacer = Pacer()
    pacer.pace(4.0)
    pacer.note(syllables=0, samples=10 * SAMPLE_RATE)
    assert pacer.pace(5.0) == Pacer().pace(5.0)


@pytest.mark.parametrize(("asked", "given"), [(0.0, 1.0), (-3.0, 1.0), (99.0, 9.0), (1e300, 9.0)])
def test_targets_are_clamped_to_the_range(asked: float, given: float) -> None:
    assert Pacer().pace(asked) == Pacer().pace(given)
    assert RATE_RANGE.lowest <= given <= RATE_RANGE.highest


def test_the_meter_counts_the_last_three_seconds() -> None:
    meter = SyllableMeter(SAMPLE_RATE)
    assert meter.rate(SAMPLE_RATE) is None
    for second in (1, 2, 3, 4):
        meter.add(second * SAMPLE_RATE)
    assert meter.rate(SAMPLE_RATE // 2) is None
    assert meter.rate(SAMPLE_RATE) == 1.0
    assert meter.rate(2 * SAMPLE_RATE) == 1.0
    assert meter.rate(5 * SAMPLE_RATE) == pytest.approx(2 / 3)
    assert meter.rate(9 * SAMPLE_RATE) is None
