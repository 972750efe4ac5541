"""Silero's probabilities and the rule that turns them into utterances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.audio import vad as vad_module
from engine.audio.vad import (
    SAMPLE_RATE,
    WINDOW,
    WINDOW_MS,
    Endpointer,
    SpeechEnded,
    SpeechPaused,
    SpeechResumed,
    SpeechStarted,
    Vad,
    find_speech,
    speech_stretches,
)
from engine.errors import ModelError
from tests.end_to_end.spoken import spoken

NOISE = np.random.default_rng(7)
PROBABILITIES = st.lists(st.floats(0, 1), max_size=80)


@pytest.fixture(scope="module")
def vad() -> Vad:
    return Vad()


@pytest.fixture(scope="module")
def sentence() -> np.ndarray:
    """One second of faint noise, a spoken sentence, one and a half seconds of faint noise."""
    speech = spoken("convert ten miles to kilometers")
    loud = np.flatnonzero(np.abs(speech) > 0.01)  # the synthesiser adds silence of its own
    speech = speech[loud[0] : loud[-1] + 1]
    before, after = np.zeros(SAMPLE_RATE), np.zeros(SAMPLE_RATE * 3 // 2)
    clip = np.concatenate([before, speech, after])
    return (clip + NOISE.normal(0, 2e-4, len(clip))).astype(np.float32)


def probabilities_of(vad: Vad, pcm: np.ndarray, block: int) -> list[float]:
    vad.reset()
    blocks = (pcm[first : first + block] for first in range(0, len(pcm), block))
    return [probability for piece in blocks for probability in vad.push(piece)]


def windows(*runs: tuple[float, int]) -> list[float]:
    """Probabilities as runs: (value, how many windows)."""
    return [value for value, count in runs for _ in range(count)]


@pytest.mark.parametrize("block", [1, 160, 511, 512, 513, 4096])
def test_probabilities_do_not_depend_on_how_the_samples_are_cut(vad, sentence, block):
    """Nor does it where the network begins anew, in a long noise."""
    noise = np.random.default_rng(5).normal(0, 3e-3, 5 * SAMPLE_RATE).astype(np.float32)
    short = sentence[SAMPLE_RATE : SAMPLE_RATE + 8000]
    clip = short if block == 1 else np.concatenate([noise, sentence, noise])
    whole = probabilities_of(vad, clip, len(clip))
    assert probabilities_of(vad, clip, block) == pytest.approx(whole, abs=1e-5)


def test_a_word_after_minutes_of_noise_is_as_certain_as_after_a_second(vad, sentence):
    """Left alone, the network's state drifts until it takes a word for noise."""
    speech = sentence[SAMPLE_RATE : SAMPLE_RATE * 3 // 2]

    def certain(seconds: int) -> int:
        noise = np.random.default_rng(5).normal(0, 3e-3, seconds * SAMPLE_RATE)
        vad.reset()
        vad.push(noise.astype(np.float32))
        return sum(probability > 0.5 for probability in vad.push(speech))

    soon = certain(1)
    assert soon > 3
    assert certain(120) >= soon - 1


def test_broken_samples_do_not_poison_the_state_and_a_reset_forgets_everything(vad, sentence):
    first = probabilities_of(vad, sentence, 1600)
    vad.push(np.array([np.nan, np.inf, -np.inf, 1e30] * 400, np.float32))
    heard = vad.push(sentence[: SAMPLE_RATE * 2 + 100])
    assert all(0.0 <= probability <= 1.0 for probability in heard)
    assert max(heard) > 0.9
    assert probabilities_of(vad, sentence, 1600) == first


def test_a_network_that_is_missing_or_damaged_is_a_model_error(monkeypatch, tmp_path):
    damaged = tmp_path / "silero_vad_v6.onnx"
    damaged.write_bytes(b"not a network")
    with monkeypatch.context() as patch:
        patch.setattr(vad_module, "_network_file", lambda: damaged)
        with pytest.raises(ModelError, match="does not load"):
            Vad()
    monkeypatch.setattr(vad_module.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"silero_vad_v6\.onnx.*faster-whisper"):
        Vad()


def white_noise() -> np.ndarray:
    return NOISE.normal(0, 1, 10 * SAMPLE_RATE)


def hum() -> np.ndarray:
    time = np.arange(10 * SAMPLE_RATE) / SAMPLE_RATE
    return sum(np.sin(2 * np.pi * 50 * k * time) / k for k in (1, 2, 3, 5, 7))


def tones() -> np.ndarray:
    """Broken chords of decaying harmonics: the nearest thing to music that needs no file."""
    random = np.random.default_rng(3)
    time = np.arange(SAMPLE_RATE // 4) / SAMPLE_RATE
    notes = []
    for _ in range(40):
        root = 220.0 * 2 ** (random.integers(0, 24) / 12)
        partials = [(root * third * k, k) for third in (1.0, 1.26, 1.5) for k in range(1, 6)]
        wave = sum(np.sin(2 * np.pi * f * time) / k**1.5 for f, k in partials)
        notes.append(np.exp(-8 * time) * wave)
    return np.concatenate(notes)


@pytest.mark.parametrize("level_db", [-60, -26, -14])
@pytest.mark.parametrize("make", [white_noise, hum, tones])
def test_no_speech_starts_in_what_is_not_speech(make, level_db):
    sound = make()
    sound *= 10 ** (level_db / 20) / np.sqrt(np.mean(sound**2))
    assert find_speech(sound.astype(np.float32)) == ()


def test_a_sentence_starts_once_and_ends_once_where_it_was_said(vad, sentence):
    events = Endpointer().push(probabilities_of(vad, sentence, 480))
    assert [type(event) for event in events] == [SpeechStarted, SpeechEnded]
    assert events[0].sample == pytest.approx(SAMPLE_RATE, abs=SAMPLE_RATE // 10)
    assert events[1].sample == pytest.approx(
        len(sentence) - SAMPLE_RATE * 3 // 2, abs=SAMPLE_RATE // 5
    )
    (stretch,) = find_speech(sentence)  # with both silences trimmed
    assert SAMPLE_RATE * 3 // 4 < stretch.start < SAMPLE_RATE * 5 // 4
    assert stretch.end < len(sentence) - SAMPLE_RATE


STARTED = SpeechStarted(0)


@pytest.mark.parametrize(
    ("runs", "events"),
    [
        pytest.param([(0.1, 5), (0.9, 2)], [], id="not long enough"),
        pytest.param([(0.1, 5), (0.9, 3)], [SpeechStarted(5 * WINDOW)], id="long enough"),
        pytest.param([(0.9, 2), (0.1, 1), (0.9, 2), (0.1, 9)], [], id="clicks"),
        pytest.param([(0.9, 1), (0.4, 1), (0.9, 1), (0.4, 1)], [], id="doubt does not count"),
        pytest.param([(0.9, 1), (0.4, 1), (0.9, 2)], [STARTED], id="doubt breaks nothing"),
        pytest.param([(0.9, 9), (0.1, 9), (0.9, 1), (0.1, 9)], [STARTED], id="pauses"),
        pytest.param([(0.9, 5), (0.1, 10)], [STARTED, SpeechEnded(5 * WINDOW)], id="an end"),
        pytest.param([(0.9, 5), (0.4, 50)], [STARTED], id="between the thresholds"),
    ],
)
def test_speech_starts_and_ends_where_it_did_once_it_is_certain(runs, events):
    endpointer = Endpointer(
        minimum_speech_ms=3 * WINDOW_MS, end_silence_ms=10 * WINDOW_MS, threshold=0.5, release=0.35
    )
    assert endpointer.push(windows(*runs)) == events


def test_a_pause_is_told_once_and_so_is_speech_that_goes_on():
    endpointer = Endpointer(end_silence_ms=10 * WINDOW_MS, pause_ms=6 * WINDOW_MS)
    assert endpointer.push(windows((0.9, 5), (0.1, 9), (0.9, 1), (0.1, 10))) == [
        STARTED,
        SpeechPaused(5 * WINDOW),
        SpeechResumed(14 * WINDOW),
        SpeechPaused(15 * WINDOW),
        SpeechEnded(15 * WINDOW),
    ]
    at_once = Endpointer(end_silence_ms=4 * WINDOW_MS, pause_ms=4 * WINDOW_MS)
    assert at_once.push(windows((0.9, 5), (0.1, 4))) == [STARTED, SpeechEnded(5 * WINDOW)]


def test_finish_ends_open_speech_where_its_silence_began():
    endpointer = Endpointer()
    endpointer.push(windows((0.9, 8), (0.1, 3)))
    assert endpointer.finish() == SpeechEnded(8 * WINDOW)


@given(PROBABILITIES, st.lists(st.integers(1, 20), max_size=20))
def test_events_do_not_depend_on_how_the_windows_are_cut(probabilities, sizes):
    whole = Endpointer(end_silence_ms=128).push(probabilities)
    endpointer, first, events = Endpointer(end_silence_ms=128), 0, []
    for size in [*sizes, len(probabilities)]:
        events += endpointer.push(probabilities[first : first + size])
        first += size
    assert events == whole


@given(PROBABILITIES)
def test_starts_and_ends_alternate_and_never_go_back(probabilities):
    endpointer = Endpointer(end_silence_ms=128, minimum_speech_ms=64)
    events = endpointer.push(probabilities)
    last = endpointer.finish()
    events += [last] if last is not None else []
    kinds = [SpeechStarted, SpeechEnded] * len(events)
    assert [type(event) for event in events] == kinds[: len(events)]
    positions = [event.sample for event in events]
    assert positions == sorted(positions)
    assert len(events) % 2 == 0


@given(PROBABILITIES, st.integers(0, 1000))
def test_stretches_lie_apart_and_inside_the_clip(probabilities, margin_ms):
    samples = len(probabilities) * WINDOW
    stretches = speech_stretches(probabilities, samples, pause_ms=96, margin_ms=margin_ms)
    edges = [edge for stretch in stretches for edge in (stretch.start, stretch.end)]
    assert edges == sorted(set(edges))
    assert all(0 <= edge <= samples for edge in edges)
