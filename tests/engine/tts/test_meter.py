"""The meter of a rate."""

import pytest

from engine.tts.meter import RateDrift, RateMeter


def test_the_meter_counts_syllables_over_its_window() -> None:
    meter = RateMeter(window=10, frame_ms=80)
    assert meter.observe(0) is None
    assert meter.observe(1) == pytest.approx(1 / 0.16)
    for _ in range(20):
        rate = meter.observe(0)
    assert rate == 0.0


def test_speech_heard_faster_has_a_higher_rate() -> None:
    meter = RateMeter(window=10, frame_ms=80)
    for _ in range(10):
        rate = meter.observe(1, speed=1.5)
    assert rate == pytest.approx(1.5 / 0.08)


def test_a_drift_is_known_from_the_first_syllable_on_and_slowly() -> None:
    drift = RateDrift(window=38, frame_ms=80)
    for _ in range(10):
        drift.observe(4.0, 0)
    assert drift.slowness == 1.0  # silence before the first syllable
    drift.observe(4.0, 1)
    for _ in range(38):
        drift.observe(4.0, 0)
    assert 1.5 < drift.slowness < 4.0
    for frame in range(76):
        drift.observe(4.0, frame % 3 != 2)  # two syllables in 240 ms, twice what is asked
    assert 0.5 < drift.slowness < 0.75


def test_what_is_asked_is_no_drift() -> None:
    drift = RateDrift(window=38, frame_ms=80)
    for frame in range(100):
        drift.observe(6.25, frame % 2)
    assert drift.slowness == pytest.approx(1.0, abs=0.05)
