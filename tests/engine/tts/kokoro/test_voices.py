"""Kokoro's voices: read whole or refused by name."""

from pathlib import Path

import numpy as np
import pytest

from engine.errors import InvalidInput, ModelError
from engine.languages import SPOKEN
from engine.tts.base import Voice
from engine.tts.kokoro.voices import (
    ENGLISH_NAMES,
    FILES,
    LANGUAGES,
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
