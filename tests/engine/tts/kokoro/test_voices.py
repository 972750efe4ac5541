"""Kokoro's voices: read whole or refused by name."""

from pathlib import Path, PurePosixPath

import numpy as np
import pytest

from engine.assets.catalogue import find
from engine.errors import InvalidInput, ModelError
from engine.tts.base import Voice
from engine.tts.kokoro.voices import NAME, NAMES, STYLE, is_british, read_voices, style_of

ROWS, WIDTH = 510, 256
ENGLISH = [PurePosixPath(file.path) for file in find("kokoro-voices").files]


@pytest.fixture
def folder(tmp_path) -> Path:
    """Files like the published ones, each with its number in every style, and its row in one."""
    for number, file in enumerate(ENGLISH):
        styles = np.full((ROWS, WIDTH), 0.1 + number / 400, "<f4")
        styles[:, 0] = np.arange(ROWS) / 100
        styles.tofile(tmp_path / file.name)
    return tmp_path


def test_all_english_voices_are_read(folder):
    voices = read_voices(folder)
    assert len(voices) == len({voice.name for voice in voices}) == 28
    assert tuple(voice.name for voice in voices) == NAMES
    assert sum(map(is_british, voices)) == 8
    assert voices[0].name == "Heart"
    for voice in voices:
        country = "British" if is_british(voice) else "American"
        assert voice.metadata["description"].startswith(country)
        assert style_of(voice).shape == (1, WIDTH)
    assert len({float(style_of(voice)[0, 1]) for voice in voices}) == 28
    assert len({float(style_of(voice)[0, 0]) for voice in voices}) == 1


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
