"""Targets in syllables per second become paces espeak can do."""

from engine.tts.espeak.library import SAMPLE_RATE
from engine.tts.espeak.pace import Pacer, pace_for


def test_nobody_hurries_to_make_up_for_a_slow_word() -> None:
    pacer = Pacer()
    pacer.pace(4.0, 0.5)
    pacer.note(syllables=8, samples=4 * SAMPLE_RATE)  # two a second, as it was meant
    assert pacer.pace(4.0) == pace_for(4.0)


def test_below_espeaks_slowest_the_wave_is_stretched_then_gaps_are_left() -> None:
    assert pace_for(3.0).stretch == 1.0
    assert 1.0 < pace_for(1.8).stretch < 1.6
    assert pace_for(1.8).gap == 0.0
    assert pace_for(1.0).stretch == 1.6
    assert pace_for(1.0).gap > 0.2 * SAMPLE_RATE


def test_what_was_too_slow_makes_the_next_piece_faster_and_the_pause_shorter() -> None:
    pacer = Pacer()
    steady = pacer.pace(4.0)
    pacer.note(syllables=1, samples=SAMPLE_RATE)
    hurried = pacer.pace(4.0)
    assert hurried.words_per_minute > steady.words_per_minute
    assert hurried.pause < steady.pause


def test_the_correction_has_bounds_and_a_new_target_forgets_it() -> None:
    late, early = Pacer(), Pacer()
    late.pace(4.0)
    early.pace(4.0)
    late.note(syllables=0, samples=100 * SAMPLE_RATE)
    early.note(syllables=1000, samples=1)
    assert late.pace(4.0).words_per_minute < 1.5 * pace_for(4.0).words_per_minute
    assert early.pace(4.0).words_per_minute > 0.5 * pace_for(4.0).words_per_minute
    assert late.pace(5.0) == Pacer().pace(5.0)
