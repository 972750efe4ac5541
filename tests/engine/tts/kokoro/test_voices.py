"""Kokoro's voices: read whole or refused by name."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from engine.errors import InvalidInput, ModelError, UnreadableClip
from engine.languages import SPOKEN
from engine.resources import resource
from engine.tts.base import Voice
from engine.tts.kokoro import resemblance
from engine.tts.kokoro.voices import (
    ENGLISH_NAMES,
    FILES,
    LANGUAGES,
    MAKING,
    NAME,
    NAMES,
    STYLE,
    accent_of,
    blend,
    fetched,
    read_voices,
    style_of,
)

ROWS, WIDTH = 510, 256


@pytest.fixture
def folder(tmp_path) -> Path:
    """Files like the published ones, each with its number in every style, and its row in one."""
    for number, name in enumerate(NAMES):
        styles = np.full((ROWS, WIDTH), 0.1 + number / 400, "<f4")
        styles[:, 0] = np.arange(ROWS) / 100
        styles.tofile(tmp_path / f"{FILES[name]}.bin")
    return tmp_path


PEOPLE = {
    "en-us": "American", "en-gb": "British", "es": "Spanish", "it": "Italian",
    "pt-br": "Brazilian", "fr-fr": "French",
}  # fmt: skip


def test_all_voices_are_read(folder):
    voices = read_voices(folder)
    assert len(voices) == len({voice.name.casefold() for voice in voices}) == 37
    assert tuple(voice.name for voice in voices) == NAMES == fetched(folder)
    assert sum(accent_of(voice) == "en-gb" for voice in voices) == 8
    assert voices[0].name == "Heart"
    for voice in voices:
        accent = accent_of(voice)
        assert voice.metadata["description"].startswith(PEOPLE[accent])
        assert style_of(voice).shape == (1, WIDTH)
        assert voice.language == LANGUAGES.get(voice.name, "en")
        assert accent in ("en-gb", SPOKEN[voice.language].espeak)
    assert {voice.language for voice in voices} == set(SPOKEN)
    assert len({float(style_of(voice)[0, 1]) for voice in voices}) == 37
    rows = {voice.language: round(100 * float(style_of(voice)[0, 0])) for voice in voices}
    assert rows == {"en": 60, "es": 60, "it": 250, "pt": 60, "fr": 60}


def test_an_older_fetch_without_other_languages_goes_on_speaking_english(folder):
    for name in LANGUAGES:
        (folder / f"{FILES[name]}.bin").unlink()
    assert tuple(voice.name for voice in read_voices(folder)) == ENGLISH_NAMES == fetched(folder)


def test_a_voice_of_an_unknown_language_is_english():
    voice = Voice("Nobody", NAME, metadata={"language": "tlh"})
    assert (accent_of(voice), voice.language) == ("en-us", "en")


def test_a_mixture_has_the_language_of_its_largest_part(folder):
    known = {voice.name: voice for voice in read_voices(folder)}
    mixture = blend("Both", ((known["Dora"], 0.6), (known["Noel"], 0.4)))
    assert (accent_of(mixture), mixture.language) == ("es", "es")


@pytest.mark.parametrize("damage", ["gone", "short", "long", "not a number", "huge"])
def test_a_damaged_file_is_refused_by_name(folder, damage):
    file = folder / "bf_emma.bin"
    styles = np.fromfile(file, "<f4")
    if damage == "gone":
        file.unlink()
    elif damage == "short":
        styles[:-1].tofile(file)
    elif damage == "long":
        np.append(styles, np.float32(0)).tofile(file)
    else:
        styles[77] = np.nan if damage == "not a number" else 1e9
        styles.tofile(file)
    with pytest.raises(ModelError, match=r"bf_emma\.bin") as refusal:
        read_voices(folder)
    assert "models get kokoro" in (refusal.value.hint or "")


@pytest.mark.parametrize(
    "tensors",
    [
        {},
        *(
            {STYLE: np.asarray(style, np.float32)}
            for style in (
                np.zeros(255),
                np.zeros(256),
                np.full(256, np.nan),
                np.full(256, 1.8),  # ten times as large as a speaker's
                np.full(256, np.inf),
                np.repeat([0.18, 0.0], 128),
            )
        ),
    ],
)
def test_a_voice_without_a_style_is_refused(tensors):
    with pytest.raises(InvalidInput, match="Nobody"):
        style_of(Voice("Nobody", NAME, tensors, {}))


# ---------------------------------------------------------------- blends that resemble a recording


WEIGHTS = (1.0, 0.3, 0.1, 0.1, 0.1)


@pytest.fixture(scope="module")
def stock() -> tuple[Voice, ...]:
    draw = np.random.default_rng(1)
    languages = ("en-us", "en-gb") * 4
    return tuple(
        Voice(
            f"V{n}", NAME, {STYLE: draw.normal(0, 0.25, 256).astype(np.float32)}, {"language": each}
        )
        for n, each in enumerate(languages)
    )


@pytest.fixture(scope="module")
def measures() -> resemblance.Numbers:
    draw = np.random.default_rng(2)
    speakers = draw.normal(size=(8, 192))
    speakers /= np.linalg.norm(speakers, axis=1, keepdims=True)
    others = [draw.uniform(4.5, 5.5, 8), draw.uniform(0.2, 0.6, 8), draw.uniform(3, 5, 8)]
    return np.hstack([speakers, np.stack(others, 1), draw.normal(size=(8, 14))])


def test_the_shares_of_a_blend_are_found_again(measures):
    wanted = np.array([0, 0.6, 0, 0, 0.3, 0, 0.1, 0])
    found = resemblance.shares(measures, wanted @ measures, WEIGHTS)
    assert found == pytest.approx(wanted, abs=0.02)
    # few voices take part, and none with a negative share
    found = resemblance.shares(measures, measures.mean(0), WEIGHTS)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1)
    assert 1 <= (found > 0).sum() <= 6


@pytest.mark.parametrize("pitch_hz", [80.0, 125.0, 210.0, 330.0])
def test_the_pitch_of_a_harmonic_sound_is_found(pitch_hz):
    times = np.arange(16_000) / 16_000
    waves = [np.sin(2 * np.pi * pitch_hz * k * times) / k for k in range(1, 12)]
    found = resemblance.log_pitch((0.1 * np.sum(waves, axis=0)).astype(np.float32))
    assert np.exp(np.median(found)) == pytest.approx(pitch_hz, rel=0.02)

    noise = np.random.default_rng(3).normal(0, 0.1, 16_000).astype(np.float32)
    assert len(resemblance.log_pitch(noise)) < 10
    assert len(resemblance.log_pitch(np.zeros(16_000, np.float32))) == 0


def test_a_recording_becomes_a_voice_that_says_how_it_was_made(
    stock, measures, speech, monkeypatch
):
    monkeypatch.setattr(resemblance, "measures_of", lambda voices: measures)
    made, again = (resemblance.resembling(stock, speech.pcm, speech.sample_rate) for _ in range(2))
    assert (made.model, made.metadata["making"]) == (NAME, MAKING)
    assert made.metadata["language"] in ("en-us", "en-gb")
    assert style_of(made).shape == (1, 256)
    assert np.array_equal(style_of(made), style_of(again))


def test_a_recording_without_speech_is_refused(stock):
    with pytest.raises(UnreadableClip):
        resemblance.resembling(stock, np.zeros(48_000, np.float32), 24_000)


def test_every_stock_voice_that_ships_was_measured():
    rows = load_file(str(resource(*resemblance.MEASURES)))
    assert len(rows) == 28
    assert {row.shape for row in rows.values()} == {(192 + 3 + 14,)}
