"""Durations that a teacher is given: the rate to a frame, pauses where people make them."""

# ruff: noqa: RUF001  IPA letters look like others on purpose

import random

import numpy as np
import pytest

from engine.text.phonemes import Espeak, PhonedWord, WordPhonemizer
from engine.training.teachers import kokoro
from engine.training.teachers.durations import Script, frames, make_script, silences

TEXT = "If it is windy by the river, remember the heating before noon."


@pytest.fixture(scope="module")
def words() -> list[PhonedWord]:
    phonemizer = WordPhonemizer(Espeak())
    return [ready for word in TEXT.split() for ready in phonemizer.push(word)]


def natural(script: Script) -> kokoro.Floats:
    """Two frames and a half a symbol, but a quarter of a second before marks, as Kokoro has it."""
    lengths = [2.5] * (len(script.symbols) + 2)
    for place, symbol in enumerate(script.symbols, start=1):
        if symbol.text in kokoro.MARKS:
            lengths[place - 1] = 10.0
    return np.asarray(lengths, np.float32)


def seconds(script: Script, quickening: float = 1.0) -> list[float]:
    """Of every symbol with its silence, as it will be played."""
    lasting = frames(script, natural(script), quickening)
    assert lasting is not None
    assert lasting.min() >= 1
    silent = silences(script, lasting, quickening)
    played = lasting[1:-1] * kokoro.FRAME / kokoro.SAMPLE_RATE / quickening
    return [float(a) + b / kokoro.SAMPLE_RATE for a, b in zip(played, silent, strict=True)]


def syllables(words: list[PhonedWord]) -> int:
    return sum(word.syllables for word in words)


@pytest.mark.parametrize("quickening", [0.93, 1.0, 1.08])
@pytest.mark.parametrize("rate", [1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.5])
def test_speech_lasts_as_long_as_its_rate_asks_for(
    words: list[PhonedWord], rate: float, quickening: float
) -> None:
    script = make_script(words, (rate,), random.Random(1))
    spoken = sum(seconds(script, quickening)[:-1])  # without the final mark
    assert spoken == pytest.approx(syllables(words) / rate, abs=0.026)


def test_each_half_has_its_own_rate(words: list[PhonedWord]) -> None:
    script = make_script(words, (6.0, 2.0), random.Random(1))
    second = script.stretches[1].first
    lengths = seconds(script)[:-1]
    half = words[: len(words) // 2]
    assert script.symbols[second - 1].text == " "
    assert sum(lengths[:second]) == pytest.approx(syllables(half) / 6.0, abs=0.03)
    rest = syllables(words) - syllables(half)
    assert sum(lengths[second:]) == pytest.approx(rest / 2.0, abs=0.03)


def test_slow_speech_pauses_between_words_and_does_not_draw_its_sounds_out(
    words: list[PhonedWord],
) -> None:
    slow, plain = (make_script(words, (rate,), random.Random(1)) for rate in (1.5, 3.0))
    assert not any(symbol.pause for symbol in plain.symbols)
    assert sum(symbol.pause for symbol in slow.symbols) > 0.3 * syllables(words) / 1.5

    def longest_sound(script: Script) -> float:
        lengths = zip(script.symbols, seconds(script), strict=True)
        return max(length for symbol, length in lengths if symbol.text.isalpha())

    assert longest_sound(slow) < 1.3 * longest_sound(plain)


def test_vowels_stretch_more_than_stops(words: list[PhonedWord]) -> None:
    slow, quick = (seconds(make_script(words, (rate,), random.Random(1))) for rate in (3.0, 6.0))
    symbols = make_script(words, (3.0,), random.Random(1)).symbols

    def growth(written: str) -> float:
        places = [n for n, symbol in enumerate(symbols) if symbol.text in written]
        return sum(slow[n] for n in places) / sum(quick[n] for n in places)

    assert growth("iɪɛəʌ") > 1.2 * growth("dbt")


def test_silence_behind_the_sound_before_a_mark_is_the_marks(words: list[PhonedWord]) -> None:
    script = make_script(words, (), random.Random(1))
    comma = script.text.index(",")
    lengths = seconds(script)
    assert lengths[comma - 1] < 0.15 < lengths[comma]
    assert lengths[comma - 1] + lengths[comma] == pytest.approx(12.5 / 40, abs=0.03)


def test_what_has_more_symbols_than_frames_is_not_said(words: list[PhonedWord]) -> None:
    script = make_script(words, (20.0,), random.Random(1))
    assert frames(script, natural(script), 1.0) is None
