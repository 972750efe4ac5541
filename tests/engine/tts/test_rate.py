"""The meter of a rate."""

import pytest

from engine.tts.rate import RateMeter, SyllableMeter


def test_the_meter_counts_syllables_over_its_window():
    meter = RateMeter(window=10, frame_ms=80)
    assert meter.observe(0) is None
    assert meter.observe(1) == pytest.approx(1 / 0.16)
    for _ in range(20):
        rate = meter.observe(0)
    assert rate == 0.0


def test_speech_heard_faster_has_a_higher_rate():
    meter = RateMeter(window=10, frame_ms=80)
    for _ in range(10):
        rate = meter.observe(1, speed=1.5)
    assert rate == pytest.approx(1.5 / 0.08)


def test_syllables_are_counted_over_the_last_three_seconds():
    meter = SyllableMeter(1000)
    for second in (1, 2, 3, 4):
        meter.add(second * 1000)
    found = {seconds: meter.rate(round(seconds * 1000)) for seconds in (0.5, 1, 2, 5, 9)}
    assert found == {0.5: None, 1: 1.0, 2: 1.0, 5: pytest.approx(2 / 3), 9: None}
