"""Latency by arithmetic: hand-made traces, and the same figures as speaking against a clock."""

from dataclasses import replace

import pytest

from engine.errors import SettingsError
from engine.runtime.headless.offline_synthesis import Clock, OfflineSynthesis, SpeechRequest
from engine.tts.delays import (
    FrameTiming,
    Trace,
    longest_s,
    syllables_of,
    timing,
    trace,
    words_before_sound,
)
from engine.tts.espeak.model import EspeakModel
from engine.tts.pick import SPEEDS_FILE, keep_speeds, places
from tests.help.fakes.tts import LostTts

# Four words; the second frame needs the second word, the third the fourth.
TRACE = Trace(
    4,
    (FrameTiming(1, 0.02, 0.08), FrameTiming(2, 0.01, 0.08), FrameTiming(4, 0.01, 0.08)),
    (0.04, 0.2),
)


def test_with_all_words_at_once_only_computing_counts_and_slow_ones_leave_silences():
    found = timing(TRACE, 0.0)
    assert found.first_packet_s == pytest.approx(0.02)
    assert found.first_audible_s == pytest.approx(0.06)
    assert (found.dry_s, found.dry_times) == (0.0, 0)
    assert found.tail_s == pytest.approx(0.22)
    found = timing(TRACE, 0.5)
    # Played: 0.02..0.10, the second frame from 0.51, the third from 1.51; the last word at 1.5.
    assert found.first_packet_s == pytest.approx(0.02)
    assert found.dry_times == 2
    assert found.dry_s == pytest.approx((0.51 - 0.10) + (1.5 - 0.59))
    assert found.tail_s == pytest.approx(1.51 + 0.04 - 1.5)


def test_speaking_against_a_clock_begins_when_the_arithmetic_says():
    model = EspeakModel()
    try:
        voice, text = model.voices()[0], "The boat left the harbour at ten past seven, slowly."
        found = trace(model, voice, text)
        free = replace(found, frames=tuple(replace(frame, cpu_s=0.0) for frame in found.frames))
        now = [0.0]

        def wait(seconds: float) -> None:
            now[0] += seconds

        request = SpeechRequest(text, voice, word_delay_s=0.1, pacing=False)
        synthesis = OfflineSynthesis(model, request, Clock(lambda: now[0], wait))
        frames = list(synthesis.frames())
        assert synthesis.report().first_packet_ms == pytest.approx(
            1000 * timing(free, 0.1).first_packet_s
        )
        assert sum(frame.seconds for frame in found.frames) == pytest.approx(
            sum(len(frame.pcm) for frame in frames) / model.info.sample_rate
        )
        assert words_before_sound(found) == 1  # its first word is spoken at once
        assert [f.words for f in found.frames] == sorted(f.words for f in found.frames)
        assert found.frames[-1].words == found.words
        assert 0.0 <= found.speech[0] < found.speech[1]
    finally:
        model.close()


def test_speech_that_finds_no_end_is_cut_off():
    model = LostTts()
    found = trace(model, model.voices()[0], "A short text.", 4.0)
    longest = longest_s(["A", "short", "text."], 4.0)
    assert sum(frame.seconds for frame in found.frames) == pytest.approx(longest, abs=0.2)


# ---------------------------------------------------------- how many utterances are spoken at once


@pytest.mark.parametrize(
    ("rtf", "expected"), [(0.7, 1), (0.36, 1), (0.35, 2), (0.09, 7), (0.01, 8), (1.9, 1)]
)
def test_it_speaks_as_often_at_once_as_it_keeps_up(tmp_path, rtf, expected):
    keep_speeds({"kokoro": rtf}, tmp_path)
    assert places("kokoro", tmp_path) == expected


def test_a_later_measurement_replaces_its_own_and_leaves_the_others(tmp_path):
    keep_speeds({"kokoro": 0.6, "starter": 0.09}, tmp_path)
    keep_speeds({"kokoro": 0.3}, tmp_path)
    assert (places("kokoro", tmp_path), places("starter", tmp_path)) == (2, 7)
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match=r"serve\.places"):
        keep_speeds({"kokoro": 0.3}, tmp_path / "file")


@pytest.mark.parametrize("content", [None, "{", '{"rtfs": 3}', '{"rtfs": [["x", "y"]]}'])
def test_without_a_measurement_two_are_spoken_at_once(tmp_path, content):
    if content is not None:
        (tmp_path / SPEEDS_FILE).write_text(content, encoding="utf-8")
    assert places("kokoro", tmp_path) == 2


def test_syllables_are_those_of_the_language():
    words = ["El", "aire,", "un", "murciélago", "y", "oír", "leer."]
    assert syllables_of(words, "es") == 13
    assert syllables_of(words) != 13
    assert syllables_of(["The", "little", "house"]) == 4
