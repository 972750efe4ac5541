"""Kokoro's voices: read whole or refused by name, and mixed."""

from pathlib import Path

import numpy as np
import pytest

from engine.errors import InvalidInput, ModelError
from engine.tts.base import Voice
from engine.tts.kokoro.voices import NAME, NAMES, STYLE, blend, is_british, read_voices, style_of

ROWS, WIDTH = 510, 256
FILES = {
    "a": "f alloy aoede bella heart jessica kore nicole nova river sarah sky "
    "m adam echo eric fenrir liam michael onyx puck santa",
    "b": "f alice emma isabella lily m daniel fable george lewis",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files like the published ones, each with its number in every style, and its row in one."""
    number = 0
    for country, people in FILES.items():
        for name in people.split():
            if len(name) == 1:
                sex = name
                continue
            styles = np.full((ROWS, WIDTH), number / 100, "<f4")
            styles[:, 0] = np.arange(ROWS) / 100
            styles.tofile(tmp_path / f"{country}{sex}_{name}.bin")
            number += 1
    return tmp_path


def test_all_english_voices_are_read(folder: Path) -> None:
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
def test_a_damaged_file_is_refused_by_name(folder: Path, damage: str) -> None:
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


def test_a_blend_is_between_its_voices(folder: Path) -> None:
    one, two = (next(v for v in read_voices(folder) if v.name == n) for n in ("Heart", "Emma"))
    mixed = blend("Ours", ((one, 1.0), (two, 3.0)), description="a mixture")
    assert (mixed.name, mixed.model, mixed.metadata["description"]) == ("Ours", NAME, "a mixture")
    expected = 0.25 * style_of(one) + 0.75 * style_of(two)
    assert np.allclose(style_of(mixed), expected, atol=1e-6)
    assert is_british(mixed)
    assert not is_british(blend("Ours", ((one, 3.0), (two, 1.0))))
    assert np.array_equal(style_of(blend("Ours", ((one, 2.0),))), style_of(one))


@pytest.mark.parametrize(
    "tensors", [{}, {STYLE: np.zeros(255, np.float32)}, {STYLE: np.full(256, np.nan, np.float32)}]
)
def test_a_voice_without_a_style_is_refused(tensors: dict[str, np.ndarray]) -> None:
    with pytest.raises(InvalidInput, match="Nobody"):
        style_of(Voice("Nobody", NAME, tensors, {}))
