"""Voices a person made survive in the data folder."""

import logging
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import save_file

from engine.audio.clips.clip import Clip
from engine.errors import InvalidInput
from engine.tts import voices
from engine.tts.base import Voice

GRANDMA = Voice(
    "Grandma Ödön",
    "neural",
    tensors={
        "codes": np.arange(12, dtype=np.int64).reshape(3, 4),
        "state": np.linspace(-1, 1, 5, dtype=np.float32)[::2],
    },
    metadata={"clip": "a hash"},
)


def test_a_voice_comes_back_as_it_was(tmp_path):
    folder = tmp_path / "not" / "there"
    assert voices.saved_voices(folder) == ()
    loaded = voices.load(voices.save(GRANDMA, folder).path)
    assert replace(loaded, tensors={}) == replace(GRANDMA, tensors={})
    assert set(loaded.tensors) == set(GRANDMA.tensors)
    for name, tensor in GRANDMA.tensors.items():
        assert loaded.tensors[name].dtype == tensor.dtype
        assert np.array_equal(loaded.tensors[name], tensor)


def test_the_recording_is_kept_beside_the_voice_and_is_no_part_of_it(tmp_path):
    pcm = np.sin(np.arange(9_000, dtype=np.float32))
    saved = voices.save(GRANDMA, tmp_path, Clip(pcm, 44_100))
    assert voices.saved_voices(tmp_path) == (saved,)
    assert saved.has_clip
    clip = voices.load_clip(saved.path)
    assert clip.sample_rate == 44_100
    assert np.abs(clip.pcm - pcm).max() < 1e-4
    loaded = voices.load(saved.path)
    assert set(loaded.tensors) == set(GRANDMA.tensors)
    assert loaded.metadata == GRANDMA.metadata
    bare = voices.save(Voice("Alan", "espeak"), tmp_path)
    assert not bare.has_clip
    with pytest.raises(InvalidInput, match="was not kept"):
        voices.load_clip(bare.path)


def test_the_list_leaves_out_what_is_none(tmp_path, caplog):
    saved = voices.save(GRANDMA, tmp_path)
    (tmp_path / f"junk{voices.SUFFIX}").write_bytes(b"junk")
    save_file({"x": np.zeros(1)}, tmp_path / f"stranger{voices.SUFFIX}")
    (tmp_path / "notes.txt").write_text("not a voice")
    with caplog.at_level(logging.WARNING):
        assert voices.saved_voices(tmp_path) == (saved,)
    assert "junk" in caplog.text
    assert "stranger" in caplog.text


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 100, b"\x08\0\0\0\0\0\0\0notjson!", "cut", None]
)
def test_a_broken_file_is_a_clear_error(tmp_path, content):
    path = voices.save(GRANDMA, tmp_path).path
    whole = path.read_bytes()
    path.unlink()
    if content is not None:
        path.write_bytes(whole[:-7] if isinstance(content, str) else content)
    with pytest.raises(InvalidInput, match=f"{path.name} cannot be used"):
        voices.load(path)


def test_too_large_is_not_written_nor_read(tmp_path, monkeypatch):
    saved = voices.save(GRANDMA, tmp_path)
    monkeypatch.setattr(voices, "LARGEST_BYTES", 100)
    with pytest.raises(InvalidInput, match="too large"):
        voices.save(replace(GRANDMA, name="Other"), tmp_path)
    with pytest.raises(InvalidInput, match="MB large"):
        voices.load(saved.path)
