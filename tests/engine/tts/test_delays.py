"""Latency by arithmetic: hand-made traces, and the same figures as speaking against a clock."""

from dataclasses import replace

import pytest

from engine.runtime.host.offline_synthesis import Clock, OfflineSynthesis, Script
from engine.tts.delays import Frame, Trace, longest_s, timing, trace, words_before_sound
from engine.tts.espeak.model import EspeakModel
from tests.fakes_tts import LostTts

# Four words; the second frame needs the second word, the third the fourth.
TRACE = Trace(4, (Frame(1, 0.02, 0.08), Frame(2, 0.01, 0.08), Frame(4, 0.01, 0.08)), (0.04, 0.2))


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

        script = Script(text, voice, word_delay_s=0.1, pacing=False)
        synthesis = OfflineSynthesis(model, script, Clock(lambda: now[0], wait))
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
